import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Measurements of the daemon's event loop. */
export interface LoopFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest time for which it was blocked. */
  readonly maxMs: number;
  /** Share of the time in which the loop was busy. */
  readonly busyShare: number;
  /** Share of the time spent in garbage collection. */
  readonly gcShare: number;
}

const ANSWER_MS = 10_000;

/** Measures the loop of a process that runs `loop-probe.ts`, until the returned function is called. */
export function measureLoop(pid: number, file: string): () => Promise<LoopFigures> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  return async () => {
    process.kill(pid, 'SIGUSR2');
    const deadline = Date.now() + ANSWER_MS;
    while (!existsSync(file)) {
      if (Date.now() > deadline) throw new Error('the daemon does not tell how its loop fared');
      await delay(5);
    }
    return JSON.parse(readFileSync(file, 'utf8')) as LoopFigures;
  };
}
