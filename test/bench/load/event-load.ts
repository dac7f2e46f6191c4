import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../measure/statistics.js';
import { buildMessage } from './bodies.js';
import type { EventFigures, EventRun } from './run-event-load.js';
import { SmtpSession } from './smtp-session.js';

/**
 * Streams of events, and mail at an even pace. Each event says when its message became ready, by the clock of this
 * machine, before the commit was flushed: the flush is part of what is measured.
 */

const run = JSON.parse(process.argv[2] ?? '') as EventRun;
const latenciesMs: number[] = [];

const CREATED = '"created_at":"';
const INSTANT_LENGTH = '2026-01-31T12:00:00.000Z'.length;

async function listen(credential: string): Promise<void> {
  const socket = connect(run.httpPort, '127.0.0.1');
  socket.write(
    [
      'GET /v1/events?after=now&types=message.received HTTP/1.1',
      'Host: 127.0.0.1',
      `Authorization: Bearer ${credential}`,
      'Accept: text/event-stream',
      '\r\n',
    ].join('\r\n'),
  );
  const [first] = (await once(socket, 'data')) as [Buffer];
  if (!first.toString('latin1').startsWith('HTTP/1.1 200 ')) throw new Error(first.toString('latin1'));
  socket.on('data', (bytes: Buffer) => {
    const now = Date.now();
    const text = bytes.toString('latin1');
    for (let at = text.indexOf(CREATED); at >= 0; at = text.indexOf(CREATED, at + 1)) {
      const from = at + CREATED.length;
      latenciesMs.push(now - Date.parse(text.slice(from, from + INSTANT_LENGTH)));
    }
  });
}

const streams = run.listeners.flatMap(({ credential, streams }) => Array<string>(streams).fill(credential));
for (const credential of streams) await listen(credential);

const SESSIONS = 8;
const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => SmtpSession.open(run.smtpPort)));
const message = buildMessage('text', 4096);
const startedAt = performance.now();
let sent = 0;
await Promise.all(
  sessions.map(async session => {
    for (let number = sent++; number < run.count; number = sent++) {
      const waitMs = startedAt + (number * 1000) / run.perSecond - performance.now();
      if (waitMs > 0) await delay(waitMs);
      await session.send(run.recipients[number % run.recipients.length] ?? '', message);
    }
    await session.close();
  }),
);
const seconds = (performance.now() - startedAt) / 1000;
const due = (run.count / run.recipients.length) * streams.length;
for (let looks = 0; latenciesMs.length < due && looks < 1_000; looks++) await delay(20);
const figures: EventFigures = {
  p50Ms: percentile(latenciesMs, 0.5),
  p99Ms: percentile(latenciesMs, 0.99),
  maxMs: percentile(latenciesMs, 1),
  heard: latenciesMs.length / due,
  perSecond: run.count / seconds,
};
process.stdout.write(JSON.stringify(figures), () => process.exit());
