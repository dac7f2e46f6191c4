import { type BodyKind, buildMessage } from './bodies.js';
import type { LoadFigures, LoadRun } from './run-smtp-load.js';
import { SmtpSession } from './smtp-session.js';

/** The sender's process, for what smtp-source cannot do. Started by `run-smtp-load.ts`. */

const run = JSON.parse(process.argv[2] ?? '') as LoadRun & { body: BodyKind };
const wire = buildMessage(run.body, run.bytes);
const latenciesMs: number[] = [];
let left = run.count;
let isStopped = false;
process.stdin.on('end', () => {
  isStopped = true;
});
process.stdin.resume();

async function sendMessages(): Promise<void> {
  const session = await SmtpSession.open(run.port);
  while (left > 0 && !isStopped) {
    left -= 1;
    latenciesMs.push(await session.send(run.recipient, wire));
  }
  await session.close();
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: run.sessions }, sendMessages));
const figures: LoadFigures = { seconds: (performance.now() - startedAt) / 1000, latenciesMs };
process.stdout.write(JSON.stringify(figures));
process.stdin.destroy();
