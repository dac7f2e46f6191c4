import { outputOf, startScript } from '../child-process.js';

export interface SendRun {
  readonly through: 'api' | 'nodemailer';
  /** Port of the API, or of the server that nodemailer sends to. */
  readonly port: number;
  /** Of the API. */
  readonly path: string;
  readonly credential: string;
  /** Different in every run. */
  readonly keyPrefix: string;
  /** Messages go to each of them in turn. */
  readonly recipients: readonly string[];
  /** Messages in flight at once. */
  readonly clients: number;
  /** How many connections nodemailer may open. */
  readonly connections: number;
  readonly count: number;
  /** Bytes of text in a message. */
  readonly bytes: number;
}

export interface SendFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the load itself, per message, in milliseconds. */
  readonly cpuMs: number;
}

export async function runSendLoad(run: SendRun): Promise<SendFigures> {
  return JSON.parse(await outputOf(startScript('load/send-load.js', run), 300_000)) as SendFigures;
}
