import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fail } from '../domain/errors.js';
import type { AccountRecord } from '../store/accounts.js';
import type { Logger } from '../usecases/ports.js';
import { readQuery } from './query.js';
import { readBody } from './read-body.js';
import { failed, type Reply, type Route } from './route.js';
import { Router } from './router.js';
import { setCommonHeaders, writeReply } from './write-reply.js';

export interface HttpServerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly routes: readonly Route[];
  /** The account behind a credential, or null. */
  readonly authenticate: (credential: string) => AccountRecord | null;
  readonly log: Logger;
}

/** Node's own limits against floods and slow clients (decisions, HTTP). */
const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
} as const;

const UNAUTHORIZED = failed(
  fail(
    'unauthorized',
    'Send a valid API key: Authorization: Bearer pst_... Lost keys are replaced by a new approval.',
  ),
);
const UNKNOWN_PATH = failed(fail('not_found', 'There is nothing at this path.'));
const INTERNAL_ERROR = failed(
  fail(
    'internal_error',
    'The operation failed and may have been carried out in part. Check before you repeat it.',
  ),
);

/** A request target may be written as a whole URL (RFC 9112 section 3.2.2). */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '') || '/';
}

/** The HTTP API on `node:http`. Routes are data; this class walks a request through its route. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #router: Router;
  readonly #server: Server;
  #isStopping = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#router = new Router(options.routes);
    this.#server = createServer(LIMITS, (request, response) => void this.#answer(request, response, false));
    // With `Expect: 100-continue` the client waits: a body that is refused by its length is never sent.
    this.#server.on('checkContinue', (request, response) => void this.#answer(request, response, true));
    // An expectation that we do not know is no reason to refuse (RFC 9110 section 10.1.1: a server may answer 417).
    this.#server.on('checkExpectation', (request, response) => void this.#answer(request, response, false));
  }

  async start(): Promise<{ port: number }> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    return { port: (this.#server.address() as AddressInfo).port };
  }

  /** Takes no new connection, finishes requests that are under way within `graceMs`, then cuts the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  /** An answer that had begun before the stop leaves its connection open: nothing more comes on it. */
  #closeWhenStopping(): void {
    if (this.#isStopping) setImmediate(() => this.#server.closeIdleConnections());
  }

  async #answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Promise<void> {
    const requestId = randomUUID();
    setCommonHeaders(response, requestId);
    response.once('close', () => this.#closeWhenStopping());
    try {
      const reply = await this.#route(request, response, expectsContinue);
      if (this.#isStopping) response.setHeader('Connection', 'close');
      await writeReply(request, response, reply);
    } catch (error) {
      await this.#fail(request, response, requestId, error);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Promise<Reply> {
    const target = originForm(request.url ?? '/');
    const mark = target.indexOf('?');
    const path = mark < 0 ? target : target.slice(0, mark);
    const match = this.#router.match(request.method ?? 'GET', path);
    if (match.kind === 'unknown') return UNKNOWN_PATH;
    if (match.kind === 'wrong-method') {
      response.setHeader('Allow', match.allow.join(', '));
      return failed(fail('method_not_allowed', `This path takes ${match.allow.join(', ')}.`));
    }
    const { route, params } = match;
    const account = route.auth === 'bearer' ? this.#authenticate(request) : null;
    if (route.auth === 'bearer' && account === null) return UNAUTHORIZED;
    const queryText = mark < 0 ? '' : target.slice(mark + 1);
    const query = readQuery(queryText, route.query);
    if (!query.ok) return failed(query);
    let body: unknown;
    if (route.body !== undefined) {
      const read = await readBody(request, route.body, () => {
        if (expectsContinue) response.writeContinue();
      });
      if (!read.ok) return failed(read);
      body = read.value;
    }
    // A route without authentication never looks at the account.
    return route.handle({ params, query: query.value, queryText, body, account: account as AccountRecord });
  }

  #authenticate(request: IncomingMessage): AccountRecord | null {
    const match = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '');
    return match?.[1] === undefined ? null : this.#options.authenticate(match[1]);
  }

  async #fail(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    error: unknown,
  ): Promise<void> {
    // A client that went away is no failure of ours.
    if (request.socket.destroyed) return;
    const fields = { request_id: requestId, method: request.method, err: error };
    this.#options.log.error(fields, 'a request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    setCommonHeaders(response, requestId);
    await writeReply(request, response, INTERNAL_ERROR).catch(() => response.destroy());
  }
}
