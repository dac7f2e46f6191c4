import { Agent, request } from 'node:http';
import { createTransport } from 'nodemailer';
import { percentile } from '../measure/statistics.js';
import type { SendFigures, SendRun } from './run-send-load.js';

/**
 * Sends messages, a given number at once: over the API with an idempotency key each, or with nodemailer straight to a
 * server. The next message starts when one has its outcome.
 */

const run = JSON.parse(process.argv[2] ?? '') as SendRun;
const text = `${'The quick brown fox jumps over the lazy dog. '.repeat(3)}\n`.repeat(
  Math.ceil(run.bytes / 136),
);
const agent = new Agent({ keepAlive: true, maxSockets: run.clients });
const transport =
  run.through === 'nodemailer'
    ? createTransport({
        host: '127.0.0.1',
        port: run.port,
        pool: true,
        maxConnections: run.connections,
        maxMessages: 100,
        ignoreTLS: true,
      })
    : null;

const latenciesMs: number[] = [];
let next = 0;
const startedAt = performance.now();
await Promise.all(Array.from({ length: run.clients }, keepSending));
const cpu = process.cpuUsage();
const seconds = (performance.now() - startedAt) / 1000;
transport?.close();
agent.destroy();
const figures: SendFigures = {
  perSecond: latenciesMs.length / seconds,
  p50Ms: percentile(latenciesMs, 0.5),
  p99Ms: percentile(latenciesMs, 0.99),
  cpuMs: (cpu.user + cpu.system) / 1000 / latenciesMs.length,
};
process.stdout.write(JSON.stringify(figures));
process.stdin.destroy();

function recipientOf(number: number): string {
  return run.recipients[number % run.recipients.length] ?? '';
}

async function keepSending(): Promise<void> {
  while (next < run.count) {
    const number = next++;
    const at = performance.now();
    await (transport === null ? post(number) : sendAlone(number));
    latenciesMs.push(performance.now() - at);
  }
}

async function sendAlone(number: number): Promise<void> {
  await transport?.sendMail({
    from: 'agent@bench.example',
    to: recipientOf(number),
    subject: `Message ${number}`,
    text,
  });
}

function post(number: number): Promise<void> {
  const body = JSON.stringify({
    to: [{ address: recipientOf(number) }],
    subject: `Message ${number}`,
    text,
    idempotency_key: `${run.keyPrefix}-${number}`,
  });
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent,
        port: run.port,
        method: 'POST',
        path: run.path,
        headers: {
          authorization: `Bearer ${run.credential}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      response => {
        let answer = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          answer += part;
        });
        response.on('end', () => {
          if (response.statusCode === 201 && answer.includes('"status":"accepted"')) resolve();
          else reject(new Error(`an answer that was not expected: ${answer}`));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
