import { connect } from 'node:net';
import { percentile } from '../measure/statistics.js';
import { type HttpFigures, type HttpRun, NUMBER } from './run-http-load.js';

/**
 * Requests over connections that stay open, one request at a time on each. On plain sockets: node's own
 * client would be slower than the servers that it is to measure.
 */

const HEAD_END = Buffer.from('\r\n\r\n');

const run = JSON.parse(process.argv[2] ?? '') as HttpRun;
const request = requestFor(run.path);
const latenciesMs: number[] = [];
let bodyBytes = 0;
const startedAt = performance.now();
const endsAt = startedAt + run.durationMs;

function requestFor(path: string): Buffer {
  return Buffer.from(
    [
      `GET ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      ...(run.credential === null ? [] : [`Authorization: Bearer ${run.credential}`]),
      '\r\n',
    ].join('\r\n'),
  );
}

let asked = 0;

function nextRequest(): Buffer {
  if (!run.path.includes(NUMBER)) return request;
  asked = (asked + 1) % 1_000;
  return requestFor(run.path.replace(NUMBER, `${asked}`.padStart(3, '0')));
}

function keepAsking(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(run.port, '127.0.0.1');
    let askedAt = 0;
    let received: Buffer = Buffer.alloc(0);
    /** Bytes of this answer still to come; null while its head is not complete. */
    let missing: number | null = null;
    const ask = (): void => {
      askedAt = performance.now();
      if (askedAt >= endsAt) {
        socket.end();
        resolve();
        return;
      }
      socket.write(nextRequest());
    };
    socket.setNoDelay(true);
    socket.on('connect', ask);
    socket.on('error', reject);
    socket.on('data', bytes => {
      if (missing === null) {
        received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
        const headEnd = received.indexOf(HEAD_END);
        if (headEnd < 0) return;
        const head = received.toString('latin1', 0, headEnd);
        const length = /^content-length: (\d+)/im.exec(head)?.[1];
        if (!head.startsWith('HTTP/1.1 200 ') || length === undefined) {
          reject(new Error(`an answer that was not expected: ${head}`));
          return;
        }
        bodyBytes = Number(length);
        missing = bodyBytes - (received.length - headEnd - HEAD_END.length);
        received = Buffer.alloc(0);
      } else {
        missing -= bytes.length;
      }
      if (missing > 0) return;
      missing = null;
      latenciesMs.push(performance.now() - askedAt);
      ask();
    });
  });
}

await Promise.all(Array.from({ length: run.connections }, keepAsking));
const figures: HttpFigures = {
  perSecond: latenciesMs.length / ((performance.now() - startedAt) / 1000),
  p50Ms: percentile(latenciesMs, 0.5),
  p99Ms: percentile(latenciesMs, 0.99),
  bodyBytes,
};
process.stdout.write(JSON.stringify(figures));
process.stdin.destroy();
