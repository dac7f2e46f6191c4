/** What the event loop did while something was worked on. */
export interface Turns {
  readonly turns: number;
  readonly longestMs: number;
}

/** Counts the turns of the event loop until the work has ended. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<Turns> {
  let turns = 0;
  let longestMs = 0;
  let turnAtMs = NOW();
  let isOver = false;
  const turn = (): void => {
    const nowMs = NOW();
    longestMs = Math.max(longestMs, nowMs - turnAtMs);
    turnAtMs = nowMs;
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return { turns, longestMs };
}

/**
 * The same by a clock that goes on a second whenever it is read: sliced work (`lib/slices.ts`) gives way wherever it may,
 * on however fast a machine.
 */
export async function turnsAtMost(work: () => Promise<unknown>): Promise<number> {
  let nowMs = NOW();
  performance.now = () => {
    nowMs += 1_000;
    return nowMs;
  };
  try {
    return (await turnsDuring(work)).turns;
  } finally {
    performance.now = NOW;
  }
}

const NOW = performance.now.bind(performance);
