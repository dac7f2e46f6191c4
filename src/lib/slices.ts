/**
 * Long work on the event loop, done in slices: a generator that yields wherever it may be interrupted, after a
 * millisecond or so at most. `inSlices` lets other work in between.
 */

/** How long a slice holds the loop, give or take one step of the work. */
const SLICE_MS = 5;

/** Runs sliced work to its end. Work that takes no longer than one slice is done before this returns. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  for (let endsAt = performance.now() + SLICE_MS; ; ) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() < endsAt) continue;
    await nextTurn();
    endsAt = performance.now() + SLICE_MS;
  }
}

/** What is made of more bytes than this takes long enough to be made in turns of its own. */
const LONG_BYTES = 256 * 1024;

/** Between two pieces of work on as many bytes: waits for another turn of the loop if each takes long. */
export async function pauseIfLong(bytes: number): Promise<void> {
  if (bytes > LONG_BYTES) await nextTurn();
}

const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, after the input and output that is ready. Those who wait go on one a
 * turn, in their order: many pieces of long work hold the loop no longer than one does.
 */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  const [resume] = waiting;
  resume?.();
  waiting.shift();
  if (waiting.length > 0) setImmediate(goOn);
}
