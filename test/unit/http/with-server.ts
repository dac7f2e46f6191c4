import { type IncomingHttpHeaders, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { HttpServer } from '../../../src/http/http-server.js';
import type { Route } from '../../../src/http/route.js';
import { healthRoutes } from '../../../src/http/routes/health.js';
import { inboxRoutes } from '../../../src/http/routes/inboxes.js';
import { labelRoutes } from '../../../src/http/routes/labels.js';
import { messageRoutes } from '../../../src/http/routes/messages.js';
import { trashRoutes } from '../../../src/http/routes/trash.js';
import { authenticate, createKey } from '../../../src/usecases/api-keys.js';
import type { Logger } from '../../../src/usecases/ports.js';
import { type House, must, withHouse } from '../usecases/with-house.js';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says
  readonly json: any;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** An object is sent as JSON; text and bytes as they are. */
  readonly body?: object | string | Uint8Array;
}

export interface TestServer {
  readonly house: House;
  readonly server: HttpServer;
  readonly port: number;
  readonly credential: string;
  readonly logged: object[];
  /** With the key, unless the headers say otherwise. */
  readonly call: (path: string, call?: Call) => Promise<Answer>;
  readonly socket: () => Promise<Socket>;
}

/** A server on a free port with the real use cases behind it. */
export async function withServer(t: Test, routes: readonly Route[] = []): Promise<TestServer> {
  const house = await withHouse(t);
  const { credential } = must(await createKey(house, { account: house.account }));
  const logged: object[] = [];
  const note = (fields: object) => void logged.push(fields);
  const log: Logger = { debug: note, info: note, warn: note, error: note, fatal: note };
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    authenticate: text => authenticate(house, text),
    log,
    routes: [...apiRoutes(house), ...routes],
  });
  const { port } = await server.start();
  t.teardown(() => server.stop(0));
  return {
    house,
    server,
    port,
    credential,
    logged,
    call: (path, call = {}) =>
      request(port, path, { ...call, headers: { authorization: `Bearer ${credential}`, ...call.headers } }),
    socket: () =>
      new Promise(resolve => {
        const socket = connect({ host: '127.0.0.1', port }, () => resolve(socket));
        socket.on('error', () => {});
        t.teardown(() => void socket.destroy());
      }),
  };
}

export function apiRoutes(house: House): Route[] {
  return [
    ...healthRoutes(async () => true),
    ...inboxRoutes(house.inboxes),
    ...messageRoutes(house),
    ...labelRoutes(house),
    ...trashRoutes(house),
  ];
}

export function request(port: number, path: string, { method, headers = {}, body }: Call): Promise<Answer> {
  const isJson = typeof body === 'object' && !(body instanceof Uint8Array);
  const bytes = isJson ? JSON.stringify(body) : body;
  return new Promise((resolve, reject) => {
    const outgoing = send(
      {
        host: '127.0.0.1',
        port,
        path,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers },
        agent: false,
      },
      response => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => void chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const whole = Buffer.concat(chunks);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: whole,
            get json() {
              return JSON.parse(whole.toString('utf8'));
            },
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

/** Everything that a socket says until the other side ends it. */
export async function readToEnd(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise(resolve => {
    const done = () => resolve(Buffer.concat(chunks).toString('latin1'));
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
    socket.once('end', done).once('close', done);
  });
}
