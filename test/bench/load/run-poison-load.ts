import { outputOf, startScript } from '../child-process.js';

export interface PoisonRun {
  readonly port: number;
  readonly recipient: string;
  /** Sizes of each shape; the largest messages come after these. */
  readonly sizes: readonly number[];
  readonly largest: number;
}

/** A poison message that was accepted. */
export interface SentPoison {
  readonly name: string;
  readonly id: string;
  readonly bytes: number;
  readonly sha256: string;
}

const TIMEOUT_MS = 180_000;

/** Sends the poison set, one message after the other, from another process, because building it takes time. */
export async function runPoisonLoad(run: PoisonRun): Promise<readonly SentPoison[]> {
  return JSON.parse(await outputOf(startScript('load/poison-load.js', run), TIMEOUT_MS)) as SentPoison[];
}
