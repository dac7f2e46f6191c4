import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reasonOf, settledWithin } from '../lib/async.js';
import { listen } from '../lib/listen.js';
import type { Logger } from '../usecases/ports.js';

export interface AdminServerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The figures as text. */
  readonly figures: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly log: Logger;
}

/** One Prometheus, or two, and somebody who looks. */
const MAX_CONNECTIONS = 16;
const LIMITS = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
} as const;
/** A connection on which nothing moves for so long is closed, whatever it waits for. */
const IDLE_MS = 90_000;
/** Figures are this old at most: whoever asks more often is given the same again. */
const FRESH_MS = 1_000;

/**
 * Serves `/metrics` and nothing else. It reads no bodies, has few connections, and looks at the daemon once a second at
 * most, however often it is asked.
 */
export class AdminServer {
  readonly #options: AdminServerOptions;
  readonly #server: Server;
  #last: { readonly at: number; readonly answer: ReturnType<AdminServerOptions['figures']> } | null = null;

  constructor(options: AdminServerOptions) {
    this.#options = options;
    this.#server = createServer(LIMITS, (request, response) => void this.#answer(request, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.setTimeout(IDLE_MS, socket => socket.destroy());
  }

  /** Opens the port. Rejects when address or port cannot be used. */
  async start(): Promise<{ readonly port: number }> {
    const { host, port } = this.#options;
    await listen(this.#server, { host, port });
    return { port: (this.#server.address() as AddressInfo).port };
  }

  /** Answers that are under way may end within `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    if (!(await settledWithin(graceMs, [closed]))) this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (request.url ?? '/').split('?');
    // What comes with a request is not read: the connection ends with the answer.
    if (!request.complete && request.headers['content-length'] !== undefined)
      response.shouldKeepAlive = false;
    if (path !== '/metrics') return plain(response, 404, 'There is nothing here but /metrics.\n');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return plain(response, 405, '/metrics takes GET and HEAD.\n');
    }
    try {
      const { contentType, text } = await this.#figures();
      response.writeHead(200, {
        'Content-Type': contentType,
        'Content-Length': Buffer.byteLength(text),
        'Cache-Control': 'no-store',
      });
      response.end(request.method === 'HEAD' ? undefined : text);
    } catch (error) {
      this.#options.log.error({ err: error }, 'the figures could not be read');
      plain(response, 500, `The figures could not be read: ${reasonOf(error)}. The log says more.\n`);
    }
  }

  #figures(): ReturnType<AdminServerOptions['figures']> {
    const now = performance.now();
    if (this.#last === null || now - this.#last.at > FRESH_MS) {
      this.#last = { at: now, answer: this.#options.figures() };
    }
    return this.#last.answer;
  }
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(text);
}
