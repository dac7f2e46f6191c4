import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ErrorCode } from '../../contract/errors.js';
import { Refusal, refuse } from '../../domain/errors.js';
import { settledWithin } from '../../lib/async.js';
import { listen } from '../../lib/listen.js';
import type { AccountRecord } from '../../store/records/accounts.js';
import type { Logger } from '../../usecases/ports.js';
import { type Hand, MemoryInHand } from '../../usecases/shared/in-hand.js';
import type { PageRoute, PageSet } from '../pages/page-route.js';
import { servePage } from '../pages/serve-page.js';
import { type ConnectionLimits, Connections } from './connections.js';
import { incomingBytes } from './incoming-bytes.js';
import { readQuery } from './query.js';
import { readBody } from './read-body.js';
import { failed, type Reply, type Requester, type ServedRoute } from './route.js';
import { Router } from './router.js';
import { refusedAs, uncertainRefusal } from './uncertain.js';
import { answerUnread, MAX_HEADER_BYTES } from './unread-request.js';
import type { Visit, Visitors } from './visitors.js';
import { type Exchange, Outbox, writeReply } from './write-reply.js';

export interface HttpServerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly routes: readonly ServedRoute[];
  /** Pages for humans. */
  readonly pages?: PageSet | undefined;
  readonly visitors: Visitors;
  /** The account behind a credential, or null. */
  readonly authenticate: (credential: string) => AccountRecord | null;
  readonly connections: ConnectionLimits;
  /** With it the listener speaks HTTPS (TLS 1.2 or later), and nothing else. */
  readonly tls?: TlsFiles | undefined;
  /** Answers what an authority asks to prove a name; false: the request is none of these. */
  readonly answerChallenge?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  readonly log: Logger;
  /** Hears of every answer that a route gave, or that says that there is none. */
  readonly onAnswered?: ((answered: Answered) => void) | undefined;
}

/** What is counted of an answer. */
export interface Answered {
  /** Of the route; null where there is none. */
  readonly method: string | null;
  /** As the routes name it, `/v1/inboxes/{inbox_id}`; null where there is none. */
  readonly path: string | null;
  readonly status: number;
  /** From the head of the request to its answer; null for one that waited for events. */
  readonly durationMs: number | null;
}

/** PEM, the certificate with its chain. */
export interface TlsFiles {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Limits that Node enforces against floods and slow clients. */
const LIMITS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
  // How often the two deadlines above are looked after.
  connectionsCheckingInterval: 5_000,
} as const;

const TLS_LIMITS = {
  minVersion: 'TLSv1.2',
  handshakeTimeout: 15_000,
  // HTTP/2 is not spoken; a client that speaks nothing else is told so in the handshake.
  ALPNProtocols: ['http/1.1'],
} as const;

const UNAUTHORIZED = failed(
  refuse(
    'unauthorized',
    'Send a valid API key: Authorization: Bearer pst_... Lost keys are replaced by a new approval.',
  ),
);
const UNKNOWN_PATH = failed(refuse('not_found', 'There is nothing at this path.'));

/** The error answer of a refusal; anything else is thrown on. */
function replyOf(error: unknown, uncertain: ErrorCode): Reply {
  if (!(error instanceof Refusal)) throw error;
  return failed(refusedAs(error, uncertain));
}

/** The path and query of a request target, which may be an absolute URL (RFC 9112 section 3.2.2). */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '') || '/';
}

/** The HTTP API on `node:http`. Routes are data; this class makes the checks of a route, then calls its handler. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #router: Router<ServedRoute | PageRoute>;
  readonly #server: Server;
  readonly #outbox = new Outbox();
  readonly #connections: Connections;
  readonly #memory = new MemoryInHand();
  #isStopping = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#router = new Router<ServedRoute | PageRoute>([...options.routes, ...(options.pages?.routes ?? [])]);
    this.#connections = new Connections(options.connections);
    const take = (request: IncomingMessage, response: ServerResponse): void =>
      this.#take(request, response, false);
    this.#server =
      options.tls === undefined
        ? createServer(LIMITS, take)
        : createTlsServer({ ...LIMITS, ...TLS_LIMITS, ...options.tls }, take);
    this.#connections.attach(this.#server);
    const connections = this.#connections;
    answerUnread(this.#server, socket => connections.knows(socket) && !connections.hasOpen(socket));
    // With `Expect: 100-continue` the client waits, so a body refused for its declared length is never sent.
    this.#server.on('checkContinue', (request, response) => this.#take(request, response, true));
    // An unknown expectation is ignored: RFC 9110 section 10.1.1 allows 417 but does not require it.
    this.#server.on('checkExpectation', (request, response) => this.#take(request, response, false));
  }

  async start(): Promise<{ port: number }> {
    const { host, port } = this.#options;
    await listen(this.#server, { host, port });
    return { port: (this.#server.address() as AddressInfo).port };
  }

  /** New connections get the new certificate, open ones keep theirs. Only for a listener that was made with one. */
  reloadTls({ cert, key }: TlsFiles): void {
    if (!(this.#server instanceof HttpsServer)) throw new Error('this listener speaks no TLS');
    this.#server.setSecureContext({ cert, key, minVersion: TLS_LIMITS.minVersion });
  }

  /** Accepts no new connections, waits up to `graceMs` for requests in flight, then closes what is left. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()));
    // Later, so that connections whose answers the outbox sends at the end of this event turn are idle by then.
    setImmediate(() => this.#server.closeIdleConnections());
    if (!(await settledWithin(graceMs, [closed]))) this.#connections.closeAll();
    await closed;
  }

  /** Answers a request when its connection may have another one open. */
  #take(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    this.#connections.enter(request, response, () => this.#answer(request, response, expectsContinue));
  }

  /** Answers without a promise where the handler returns none: a promise would cost as much as serving a list. */
  #answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    if (this.#options.answerChallenge?.(request, response) === true) return;
    const exchange: Exchange = {
      request,
      response,
      requestId: randomUUID(),
      outbox: this.#outbox,
      uncertain: 'internal_error',
      hand: null,
      route: null,
      waits: false,
      beganAt: this.#options.onAnswered === undefined ? 0 : performance.now(),
    };
    try {
      const reply = this.#reply(exchange, expectsContinue);
      const written =
        reply instanceof Promise
          ? reply.then(value => this.#write(exchange, value))
          : this.#write(exchange, reply);
      if (written === undefined) return;
      response.once('close', () => this.#closeWhenStopping());
      written.catch(error => this.#fail(exchange, error));
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  #write(exchange: Exchange, reply: Reply): Promise<void> | undefined {
    exchange.hand?.letGo();
    const written = writeReply(exchange, reply, this.#isStopping);
    if (this.#options.onAnswered === undefined) return written;
    if (written === undefined) this.#tellAnswered(exchange);
    return written?.then(() => this.#tellAnswered(exchange));
  }

  #tellAnswered({ route, response, beganAt, waits }: Exchange): void {
    this.#options.onAnswered?.({
      method: route?.method ?? null,
      path: route?.path ?? null,
      status: response.statusCode,
      durationMs: waits ? null : performance.now() - beganAt,
    });
  }

  /** Closes the connection of an answer that began before `stop`, which was sent without `Connection: close`. */
  #closeWhenStopping(): void {
    if (this.#isStopping) setImmediate(() => this.#server.closeIdleConnections());
  }

  /** The one place where refusals of API routes are caught. */
  #reply(exchange: Exchange, expectsContinue: boolean): Reply | Promise<Reply> {
    try {
      const reply = this.#route(exchange, expectsContinue);
      return reply instanceof Promise ? reply.catch(error => replyOf(error, exchange.uncertain)) : reply;
    } catch (error) {
      return replyOf(error, exchange.uncertain);
    }
  }

  #route(exchange: Exchange, expectsContinue: boolean): Reply | Promise<Reply> {
    const { request, response } = exchange;
    const target = originForm(request.url ?? '/');
    const mark = target.indexOf('?');
    const path = mark < 0 ? target : target.slice(0, mark);
    const match = this.#router.match(request.method ?? 'GET', path);
    if (match.kind === 'unknown') return UNKNOWN_PATH;
    if (match.kind === 'wrong-method') {
      const allow = match.allow.join(', ');
      return failed(refuse('method_not_allowed', `This path takes ${allow}.`), { Allow: allow });
    }
    const { route, params } = match;
    exchange.route = route;
    const visit: Visit = {
      params,
      queryText: mark < 0 ? '' : target.slice(mark + 1),
      request,
      onRead: () => {
        if (expectsContinue) response.writeContinue();
      },
    };
    if ('page' in route) return servePage(this.#options, route, visit);
    exchange.uncertain = route.uncertain ?? 'internal_error';
    if (route.isOwnOriginOnly === true) this.#options.visitors.refuseForeign(request);
    if (route.guard === undefined) return this.#serve(exchange, route, visit, '');
    const { visitors } = this.#options;
    const client = visitors.addressOf(request);
    return visitors
      .refuseUnwelcome(request, route.guard, client)
      .then(() => this.#serve(exchange, route, visit, client));
  }

  #serve(exchange: Exchange, route: ServedRoute, visit: Visit, client: string): Reply | Promise<Reply> {
    const { params, queryText, request, onRead } = visit;
    const account = route.auth === 'bearer' ? this.#authenticate(request) : null;
    if (route.auth === 'bearer' && account === null) return UNAUTHORIZED;
    const query = readQuery(queryText, route.query);
    const requester = route.isWaiting === true ? this.#requester(exchange) : null;
    const handle = (body: unknown, hand: Hand | null): Reply | Promise<Reply> =>
      // Null only on routes without authentication, whose handlers do not use it.
      route.handle({
        params,
        query,
        queryText,
        body,
        client,
        hand,
        headers: request.headers,
        account: account as AccountRecord,
        // Null on routes that do not wait, whose handlers do not use it.
        requester: requester as Requester,
      });
    const { body, bytes } = route;
    if (body === undefined && bytes === undefined) return handle(undefined, null);
    const hand = this.#memory.hand(account?.id ?? client, route.uncertain ?? 'internal_error');
    exchange.hand = hand;
    if (body !== undefined) return readBody(request, body, hand, onRead).then(value => handle(value, hand));
    return handle(bytes && incomingBytes(request, bytes, hand, onRead), hand);
  }

  #requester(exchange: Exchange): Requester {
    const { request, response } = exchange;
    let gone: AbortController | null = null;
    return {
      headers: request.headers,
      isAllowed: () => this.#authenticate(request) !== null,
      // Made when it is asked for: most requests of such a route do not wait, and a listener each would be dear.
      get gone() {
        if (gone !== null) return gone.signal;
        const made = new AbortController();
        gone = made;
        exchange.waits = true;
        if (response.destroyed) made.abort();
        else response.once('close', () => made.abort());
        return made.signal;
      },
    };
  }

  #authenticate(request: IncomingMessage): AccountRecord | null {
    const match = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '');
    return match?.[1] === undefined ? null : this.#options.authenticate(match[1]);
  }

  #fail(exchange: Exchange, error: unknown): void {
    const { request, response, requestId } = exchange;
    exchange.hand?.letGo();
    // The client has disconnected: nothing to answer, and no failure to log.
    if (request.socket.destroyed) return;
    const fields = { request_id: requestId, method: request.method, err: error };
    this.#options.log.error(fields, 'a request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // A stream may refuse with its first piece.
    const reply = error instanceof Refusal ? failed(error) : failed(uncertainRefusal(exchange.uncertain));
    this.#write(exchange, reply)?.catch(() => response.destroy());
  }
}
