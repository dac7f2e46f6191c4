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

/** Runs sliced work to its end without a pause: where nothing else waits for the thread. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Passes on pieces that take work to read or to use. As with `inSlices`, other work goes first once a slice is over: a
 * reader that has every piece at hand would otherwise hold the loop until the last one.
 */
export async function* inTurns<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void, undefined> {
  let endsAt = performance.now() + SLICE_MS;
  for await (const piece of pieces) {
    yield piece;
    if (performance.now() < endsAt) continue;
    await nextTurn();
    endsAt = performance.now() + SLICE_MS;
  }
}

/** UTF-16 units of a text that are worked on between two pauses. */
const PIECE = 64 * 1024;

/**
 * A long text in pieces, none of which ends between the halves of a surrogate pair.
 * @param length UTF-16 units of a piece, at least two
 */
export function* piecesOfText(text: string, length = PIECE): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + length, text.length);
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
    yield text.slice(at, end);
    at = end;
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
