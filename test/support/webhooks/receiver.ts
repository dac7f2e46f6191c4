import { createServer as createPlain, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Test } from 'tap';
import type { Identity } from '../certificate.js';

/** What an endpoint was sent. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
  readonly json: any;
}

/** A status, with headers; or what a bad endpoint does. */
export type Answer =
  | number
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Takes the request and says nothing. */
  | 'silence'
  /** Ends the connection when the request is there. */
  | 'cut'
  /** Ends it in the middle of the header of its answer. */
  | 'half'
  /** Sends a body without end. */
  | 'endless'
  /** Answers when this resolves. */
  | Promise<unknown>;

/** An endpoint over real sockets, which keeps what it was sent. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** In the order in which requests were complete. */
  readonly received: Received[];
  /** Those that were answered with 2xx. */
  readonly taken: Received[];
  /** Requests that wait for their answer, and the most that did at once. */
  readonly open: { now: number; most: number };
  /** What it answers from now on. */
  answers(how: (request: Received) => Answer): void;
  /** Resolves when it has so many. */
  until(holds: (receiver: Receiver) => boolean): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startReceiver(t: Test, identity?: Identity): Promise<Receiver> {
  let how: (request: Received) => Answer = () => 204;
  const waiting = new Set<() => void>();
  const received: Received[] = [];
  const taken: Received[] = [];
  const open = { now: 0, most: 0 };
  const look = (): void => {
    for (const one of [...waiting]) one();
  };
  const listener: RequestListener = (request, response) => {
    open.now++;
    open.most = Math.max(open.most, open.now);
    response.on('close', () => {
      open.now--;
      look();
    });
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const one = { path: request.url ?? '', headers: request.headers, body, json: JSON.parse(body) };
      received.push(one);
      look();
      const answer = how(one);
      const given = answer instanceof Promise ? await answer.then(() => 204) : answer;
      if (given === 'silence') return look();
      if (given === 'cut') return void request.socket.destroy();
      if (given === 'half') return void request.socket.end('HTTP/1.1 200 OK\r\ncontent-le');
      if (given === 'endless') {
        response.writeHead(200);
        const more = setInterval(() => response.write('x'.repeat(8192)), 1);
        response.on('close', () => clearInterval(more));
        taken.push(one);
        return look();
      }
      const {
        status,
        headers,
        body: text,
      } = typeof given === 'number'
        ? ({ status: given } as { status: number; headers?: Record<string, string>; body?: string })
        : given;
      if (status >= 200 && status < 300) taken.push(one);
      response.writeHead(status, headers);
      response.end(text);
      look();
    });
  };
  const server = identity === undefined ? createPlain(listener) : createTls(identity, listener);
  const listen = (port: number): Promise<void> =>
    new Promise(resolve => {
      server.listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise(resolve => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  t.teardown(stop);
  const receiver: Receiver = {
    url: `http${identity === undefined ? '' : 's'}://127.0.0.1:${port}/hook`,
    port,
    received,
    taken,
    open,
    answers: next => {
      how = next;
    },
    until: holds =>
      new Promise(resolve => {
        const check = (): void => {
          if (!holds(receiver)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    stop,
    start: () => listen(port),
  };
  return receiver;
}

/** Does the public library believe that the request was signed with this secret? */
export function isSignedWith(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
