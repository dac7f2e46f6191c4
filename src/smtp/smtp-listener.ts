import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { InboundMail } from '../usecases/inbound-mail.js';
import type { Logger } from '../usecases/ports.js';
import { MailServer } from './mail-server.js';
import type { SmtpListenerOptions, TlsIdentity } from './smtp-listener-options.js';
import { SmtpCounters, type SmtpStats } from './smtp-stats.js';

/** Sessions are looked over for overdue ones this often, or four times in the shortest deadline. */
const SWEEP_MS = 5000;
/** What a client that does not read may take to be torn off at the very end. */
const TEAR_OFF_MS = 250;

/**
 * The receiving SMTP port (RFC 5321). It says 250 to the final dot only when `InboundMail` has said that
 * the message is on disk; whatever else happens, the client keeps the message or is told that it failed.
 */
export class SmtpListener {
  readonly #options: SmtpListenerOptions;
  readonly #log: Logger;
  readonly #counters = new SmtpCounters();
  readonly #server: MailServer;
  #sweeper: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: SmtpListenerOptions, inbound: InboundMail, log: Logger) {
    this.#options = options;
    this.#log = log;
    this.#server = new MailServer({ options, inbound, counters: this.#counters, log });
    // A reset or a failed handshake is the client's affair. Without a listener it would end the process.
    this.#server.on('error', error => log.debug({ error: describe(error) }, 'smtp connection error'));
  }

  /** Listens. Rejects when the address cannot be had. */
  async start(): Promise<{ port: number; address: string }> {
    const { host, port, dataTimeoutMs, sessionTimeoutMs } = this.#options;
    const { server } = this.#server;
    server.listen({ port, host });
    await once(server, 'listening');
    this.#sweeper = setInterval(
      () => this.#sweep(),
      Math.min(SWEEP_MS, Math.ceil(dataTimeoutMs / 4), Math.ceil(sessionTimeoutMs / 4)),
    ).unref();
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening on a TCP port');
    this.#log.info({ address: address.address, port: address.port }, 'smtp listening');
    return { port: address.port, address: address.address };
  }

  /**
   * Takes no more connections and closes those that wait for a command (421). A session that is sending a
   * message or awaits its verdict may finish within `graceMs`; then it is cut off. Resolves when no
   * connection is left.
   */
  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  /** Serves new sessions with another certificate; the listener must have been made with one. */
  reloadTls(identity: TlsIdentity): void {
    this.#server.reloadTls(identity);
  }

  stats(): SmtpStats {
    return this.#counters.snapshot(this.#server.sessions.size);
  }

  async #stop(graceMs: number): Promise<void> {
    clearInterval(this.#sweeper);
    const { server } = this.#server;
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const session of this.#server.sessions) session.shutDown();
    const cutOff = setTimeout(() => {
      for (const session of this.#server.sessions) session.terminate();
      for (const socket of this.#server.turnedAway) socket.destroy();
    }, graceMs);
    const tearOff = setTimeout(() => {
      for (const session of this.#server.sessions) session._socket.destroy();
    }, graceMs + TEAR_OFF_MS);
    await closed;
    clearTimeout(cutOff);
    clearTimeout(tearOff);
    // The server says that it is closed a moment before its last sockets do.
    while (this.#server.sessions.size > 0) await setImmediate();
    this.#log.info({}, 'smtp stopped');
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const session of this.#server.sessions) session.expire(nowMs);
  }
}

/** Code or message of an error, never its stack. */
function describe(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
