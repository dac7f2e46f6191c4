import { existsSync } from 'node:fs';
import { outputOf, startChild } from '../child-process.js';

const PROGRAM = '/usr/sbin/smtp-source';
const TIMEOUT_MS = 60_000;

export const hasSmtpSource = existsSync(PROGRAM);
export const howToGetPostfix = 'apt-get install postfix brings smtp-source, smtp-sink and Postfix';

export interface SourceRun {
  readonly port: number;
  readonly recipient: string;
  readonly bytes: number;
  readonly sessions: number;
  readonly count: number;
  /** Is the connection used again for the next message? */
  readonly isReused: boolean;
}

/** Sends messages with Postfix's own load generator; seconds from its start to the last reply. */
export async function runSmtpSource(run: SourceRun): Promise<number> {
  const args = [
    ...['-s', `${run.sessions}`, '-m', `${run.count}`, '-l', `${run.bytes}`],
    ...['-f', 'sender@load.test', '-t', run.recipient, '-M', 'load.test'],
    // Without -d it hangs up after each message.
    ...(run.isReused ? ['-d'] : []),
    `127.0.0.1:${run.port}`,
  ];
  const startedAt = performance.now();
  await outputOf(startChild(PROGRAM, args), TIMEOUT_MS);
  return (performance.now() - startedAt) / 1000;
}
