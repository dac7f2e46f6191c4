import { outputOf, startScript } from '../child-process.js';

/** Who waits. */
export interface Listener {
  readonly credential: string;
  /** Streams that it has open. */
  readonly streams: number;
}

export interface EventRun {
  readonly httpPort: number;
  readonly smtpPort: number;
  readonly listeners: readonly Listener[];
  /** Addresses of the inboxes that mail is sent to, in turn. */
  readonly recipients: readonly string[];
  readonly perSecond: number;
  readonly count: number;
}

export interface EventFigures {
  /** From `ready` to the arrival of the event at a stream, for every event at every stream. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly heard: number;
  readonly perSecond: number;
}

const TIMEOUT_MS = 120_000;

export async function runEventLoad(run: EventRun): Promise<EventFigures> {
  return JSON.parse(await outputOf(startScript('load/event-load.js', run), TIMEOUT_MS)) as EventFigures;
}
