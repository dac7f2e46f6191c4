import { outputOf, startScript } from '../child-process.js';
import type { BodyKind } from './bodies.js';

export interface LoadRun {
  readonly port: number;
  readonly recipient: string;
  readonly sessions: number;
  /** The number of messages. */
  readonly count: number;
  readonly bytes: number;
  readonly body: BodyKind;
}

export interface LoadFigures {
  readonly seconds: number;
  /** For each message: milliseconds from MAIL to the reply to the final dot. */
  readonly latenciesMs: readonly number[];
}

export interface RunningLoad {
  readonly figures: Promise<LoadFigures>;
  /** Ends the load after the messages in flight. */
  finish(): void;
}

const TIMEOUT_MS = 120_000;

export function startSmtpLoad(run: LoadRun): RunningLoad {
  const child = startScript('load/smtp-load.js', run);
  const figures = outputOf(child, TIMEOUT_MS).then(output => JSON.parse(output) as LoadFigures);
  return { figures, finish: () => child.stdin?.end() };
}

export function runSmtpLoad(run: LoadRun): Promise<LoadFigures> {
  return startSmtpLoad(run).figures;
}
