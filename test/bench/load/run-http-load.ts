import { outputOf, startScript } from '../child-process.js';

/** Stands in a path for a number from 000 to 999 that changes with every request: no answer comes from a cache. */
export const NUMBER = '{number}';

export interface HttpRun {
  readonly port: number;
  readonly path: string;
  /** Sent as a bearer token. */
  readonly credential: string | null;
  readonly connections: number;
  readonly durationMs: number;
}

export interface HttpFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the last answer. */
  readonly bodyBytes: number;
}

export async function runHttpLoad(run: HttpRun): Promise<HttpFigures> {
  const output = await outputOf(startScript('load/http-load.js', run), run.durationMs + 30_000);
  return JSON.parse(output) as HttpFigures;
}
