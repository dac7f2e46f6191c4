import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { clientNetwork } from '../domain/addresses.js';
import { codeOrReasonOf } from '../lib/async.js';
import { listen } from '../lib/listen.js';
import { AcmeError } from './acme-error.js';
import { type Challenges, writeText } from './challenges.js';

/** Connections at a time. The newest is always let in: in a full house, the oldest gives way. */
const MAX_CONNECTIONS = 64;
/** The same from one IPv4 address or IPv6 /64. */
const MAX_PER_NETWORK = 8;
/** How long a connection may last in all: an authority asks once and waits ten seconds at most. */
const CONNECTION_MS = 10_000;

const PROBE_MS = 2_000;

const LIMITS = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: CONNECTION_MS,
  requestTimeout: CONNECTION_MS,
  keepAlive: false,
  maxRequestsPerSocket: 1,
} as const;

export interface ChallengeListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly challenges: Challenges;
}

/**
 * The port at which an authority fetches what proves a name (HTTP-01, RFC 8555 section 8.3). It answers nothing else,
 * and no number of slow connections keeps a new one out.
 */
export class ChallengeListener {
  readonly #options: ChallengeListenerOptions;
  readonly #server: Server;
  /** In the order in which they came. */
  readonly #open = new Map<Socket, string>();

  constructor(options: ChallengeListenerOptions) {
    this.#options = options;
    this.#server = createServer(LIMITS, (request, response) => {
      response.setHeader('Connection', 'close');
      if (!options.challenges.answer(request, response)) writeText(response, 404, 'There is nothing here.\n');
    });
    this.#server.on('connection', socket => this.#admit(socket));
    // Without a listener Node answers what it cannot read; there is nothing to say to it.
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Opens the port, unless it is open. Rejects with an `AcmeError` (`listen`) when it cannot be had. */
  async open(): Promise<void> {
    if (this.#server.listening) return;
    const { host, port } = this.#options;
    try {
      await listen(this.#server, { host, port });
    } catch (error) {
      throw new ListenError(host, port, error as NodeJS.ErrnoException);
    }
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise(resolve => this.#server.close(resolve));
    for (const socket of this.#open.keys()) socket.destroy();
    await closed;
  }

  #admit(socket: Socket): void {
    const network = clientNetwork(socket.remoteAddress ?? '');
    const oldest = this.#oldestThatGives(network);
    oldest?.destroy();
    if (oldest !== null) this.#open.delete(oldest);
    this.#open.set(socket, network);
    const timer = setTimeout(() => socket.destroy(), CONNECTION_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      this.#open.delete(socket);
    });
  }

  /** The connection that makes room for one of this network; null while there is room. */
  #oldestThatGives(network: string): Socket | null {
    const ofNetwork = [...this.#open].filter(([, of]) => of === network);
    if (ofNetwork.length >= MAX_PER_NETWORK) return ofNetwork[0]?.[0] ?? null;
    if (this.#open.size < MAX_CONNECTIONS) return null;
    return this.#open.keys().next().value ?? null;
  }
}

/** Whether somebody answers at a port of this machine. */
export function isTaken(host: string, port: number): Promise<boolean> {
  const here = host === '::' ? '::1' : host === '0.0.0.0' ? '127.0.0.1' : host;
  return new Promise(resolve => {
    const socket = connect({ host: here, port, timeout: PROBE_MS });
    const end = (is: boolean) => (): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}

/** The port cannot be had. */
export class ListenError extends AcmeError {
  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    const reason =
      cause.code === 'EADDRINUSE'
        ? 'another program has it'
        : cause.code === 'EACCES'
          ? 'ports below 1024 take root, or CAP_NET_BIND_SERVICE'
          : codeOrReasonOf(cause);
    super('listen', `port ${port} of ${host} cannot be listened on for the authority: ${reason}`);
  }
}
