import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { SmtpSession } from '../load/smtp-session.js';

/** A server in its own process that accepts mail for one recipient. */
export interface Sink {
  readonly port: number;
  readonly recipient: string;
  stop(): Promise<void>;
}

const START_MS = 15_000;

/** Resolves when the server speaks SMTP. Rejects when its process ends before that, or takes too long. */
export async function untilGreeted(child: ChildProcess, port: number, address = '127.0.0.1'): Promise<void> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    try {
      await (await SmtpSession.open(port, address)).close();
      return;
    } catch (error) {
      if (Date.now() > deadline || child.exitCode !== null) throw error;
      await delay(20);
    }
  }
}
