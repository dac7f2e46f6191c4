import { type IncomingHttpHeaders, request as startRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { DnsClient } from '../../../src/dns/dns-client.js';
import { Reach } from '../../../src/domain/networks.js';
import { HttpHookCaller } from '../../../src/hooks/http-hook-caller.js';
import { openApiDocument } from '../../../src/http/openapi/openapi-document.js';
import { apiRoutes } from '../../../src/http/routes/api-routes.js';
import type { ConnectionLimits } from '../../../src/http/server/connections.js';
import { HttpServer, type TlsFiles } from '../../../src/http/server/http-server.js';
import type { Route, ServedRoute } from '../../../src/http/server/route.js';
import { Visitors } from '../../../src/http/server/visitors.js';
import { MemoryRateLimiter } from '../../../src/queue/rate-limiter.js';
import { createKey, rememberingAuthenticator } from '../../../src/usecases/accounts/api-keys.js';
import { createEvents } from '../../../src/usecases/events/create-events.js';
import type { EventDeps } from '../../../src/usecases/events/list-events.js';
import type { Logger } from '../../../src/usecases/ports.js';
import { Rankings } from '../../../src/usecases/search/rankings.js';
import type { WordIndex } from '../../../src/usecases/search/word-index.js';
import { Contract } from '../../support/contract/contract.js';
import { NaiveIndex } from '../../support/search/naive-index.js';
import { Desk } from '../usecases/with-desk.js';
import { type House, silent, withHouse } from '../usecases/with-house.js';

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
  readonly desk: Desk;
  readonly index: NaiveIndex;
  readonly server: HttpServer;
  readonly port: number;
  readonly credential: string;
  readonly contract: Contract;
  readonly logged: object[];
  readonly events: EventDeps;
  /** With the key, unless the headers say otherwise. Rejects when the answer breaks the contract. */
  readonly call: (path: string, call?: Call) => Promise<Answer>;
  readonly socket: () => Promise<Socket>;
}

/** A server on a free port with the real use cases behind it. */
export async function withServer(
  t: Test,
  routes: readonly ServedRoute[] = [],
  connections: Partial<ConnectionLimits> = {},
  tls?: TlsFiles,
): Promise<TestServer> {
  const house = await withHouse(t);
  const { credential } = await createKey(house, { account: house.account });
  const logged: object[] = [];
  const note = (fields: object) => void logged.push(fields);
  const log: Logger = { debug: note, info: note, warn: note, error: note, fatal: note };
  const desk = new Desk(house);
  const index = new NaiveIndex();
  const events = createEvents(house.store, 1_000);
  const api = houseRoutes(house, { events }, desk, index);
  const contract = new Contract(openApiDocument(api, SERVICE));
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    connections: { maxClients: 1_000, maxClientsPerNetwork: 1_000, isProxy: () => false, ...connections },
    authenticate: rememberingAuthenticator(house),
    tls,
    log,
    visitors: new Visitors({
      publicUrl: SERVICE.publicUrl,
      trustedProxies: [],
      limiter: new MemoryRateLimiter({ clock: house.clock }),
      log,
    }),
    routes: [...api, ...routes],
  });
  const { port } = await server.start();
  t.teardown(async () => {
    events.waiters.stop();
    await server.stop(0);
    events.feed.stop();
  });
  return {
    house,
    desk,
    index,
    server,
    port,
    credential,
    contract,
    logged,
    events,
    call: async (path, call = {}) => {
      const headers = { authorization: `Bearer ${credential}`, ...call.headers };
      const answer = await request(port, path, { ...call, headers });
      const body =
        typeof call.body === 'object' && !(call.body instanceof Uint8Array) ? call.body : undefined;
      const { status, headers: given, bytes } = answer;
      contract.check({ method: methodOf(call), path, body, status, headers: given, bytes });
      return answer;
    },
    socket: () =>
      new Promise(resolve => {
        const socket = connect({ host: '127.0.0.1', port }, () => resolve(socket));
        socket.on('error', () => {});
        t.teardown(() => void socket.destroy());
      }),
  };
}

export const SERVICE = { name: 'Postern', publicUrl: 'https://postern.test' } as const;

type AccessDeps = Pick<Parameters<typeof apiRoutes>[0], 'signup' | 'feedback' | 'events'>;

/** The routes of the daemon over a house, and the desk that sends its mail. */
export function houseRoutes(
  house: House,
  access: Partial<AccessDeps> = {},
  { deps: send } = new Desk(house),
  index: WordIndex = new NaiveIndex(),
): Route[] {
  const { store, clock, cursors, inboxes, retentionDays } = house;
  const events = createEvents(store, 1_000);
  const caller = new HttpHookCaller({
    dns: new DnsClient({ servers: ['127.0.0.1:9'], trustAd: false }),
    reach: new Reach([]),
    version: '0',
  });
  return apiRoutes({
    service: SERVICE,
    isReady: async () => true,
    inboxes,
    search: { store, cursors, index, rankings: new Rankings() },
    events,
    webhooks: {
      store,
      clock,
      log: silent,
      feed: events.feed,
      urls: { allowsHttp: false, reach: new Reach([]) },
      limiter: null,
      caller,
      tests: { count: 0 },
    },
    retentionDays,
    signup: {
      store,
      clock,
      log: silent,
      service: SERVICE,
      policy: { policy: 'closed', domains: [], proof: 'mail', mailDomains: [], takesOwnDomains: false },
    },
    feedback: {
      store,
      clock,
      log: silent,
      limits: { storageMib: 2048 },
      mail: { send: async () => {} },
      operator: 'postmaster@example.org',
      serviceName: SERVICE.name,
    },
    ...access,
    send,
  });
}

export function methodOf({ method, body }: Call): string {
  return method ?? (body === undefined ? 'GET' : 'POST');
}

export function request(port: number, path: string, call: Call): Promise<Answer> {
  const { headers = {}, body } = call;
  const isJson = typeof body === 'object' && !(body instanceof Uint8Array);
  const bytes = isJson ? JSON.stringify(body) : body;
  return new Promise((resolve, reject) => {
    const outgoing = startRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: methodOf(call),
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
