import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { codeOrReasonOf, within } from '../lib/async.js';
import type { InboundMail, Logger } from '../usecases/ports.js';
import { OpenClients } from './connection-limits.js';
import type { MailConnection } from './mail-connection.js';
import { MailServer } from './mail-server.js';
import { SmtpCounters, type SmtpListenerOptions, type SmtpStats, type TlsIdentity } from './options.js';
import { GuessBrake } from './recipient-guesses.js';
import { ListenerClock } from './session-timers.js';

/**
 * How often the clock ticks and sessions are checked for their pace and for exceeded time limits; more often if a limit
 * is shorter than four times this.
 */
const SWEEP_MS = 1000;
/** How long a client that does not read may delay the end of a stop before its socket is destroyed. */
const TEAR_OFF_MS = 250;

export interface ListeningPorts {
  readonly address: string;
  readonly port: number;
  /** Null without such a port. */
  readonly implicitTlsPort: number | null;
}

/**
 * The receiving SMTP port (RFC 5321). It answers the final dot with 250 only after `InboundMail` has reported that the
 * message is on disk. In every other case the client gets a refusal or no reply, and so keeps the message.
 */
export class SmtpListener {
  readonly #options: SmtpListenerOptions;
  readonly #log: Logger;
  readonly #counters = new SmtpCounters();
  readonly #clock = new ListenerClock();
  readonly #clients: OpenClients<MailConnection>;
  readonly #server: MailServer;
  readonly #implicitTlsServer: MailServer | null;
  #sweeper: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: SmtpListenerOptions, inbound: InboundMail, log: Logger) {
    this.#options = options;
    this.#log = log;
    if (options.implicitTlsPort !== undefined && options.tls === undefined) {
      throw new Error('a port with implicit TLS needs a certificate');
    }
    const clock = this.#clock;
    const clients = new OpenClients<MailConnection>(options, clock);
    const brake = new GuessBrake(options.unknownRecipientDelayMs);
    this.#clients = clients;
    let lastId = 0;
    const nextSessionId = () => {
      lastId += 1;
      return lastId.toString(36);
    };
    const serve = (isImplicitTls: boolean): MailServer => {
      const context = { options, inbound, counters: this.#counters, clock, brake, log, nextSessionId };
      const server = new MailServer(context, { clients, isImplicitTls });
      // A reset or a failed handshake is the client's fault. Without a listener it would end our process.
      server.on('error', error => log.debug({ error: codeOrReasonOf(error) }, 'smtp connection error'));
      return server;
    };
    this.#server = serve(false);
    this.#implicitTlsServer = options.implicitTlsPort === undefined ? null : serve(true);
  }

  /** Opens the ports. Rejects when an address or port cannot be used. */
  async start(): Promise<ListeningPorts> {
    const { port, implicitTlsPort } = this.#options;
    const plain = await this.#listen(this.#server, port);
    const implicit =
      this.#implicitTlsServer === null || implicitTlsPort === undefined
        ? null
        : await this.#listen(this.#implicitTlsServer, implicitTlsPort);
    this.#sweeper = setInterval(() => this.#sweep(), this.#sweepMs()).unref();
    const ports = { ...plain, implicitTlsPort: implicit?.port ?? null };
    this.#log.info(ports, 'smtp listening');
    return ports;
  }

  /**
   * Accepts no more connections, and closes sessions that are between messages (421). A session that is sending a
   * message or waits for the reply to it may finish within `graceMs`; then it is cut off. Resolves when no connection
   * is left.
   */
  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  /** New sessions use the new certificate. Only for a listener that was created with one. */
  reloadTls(identity: TlsIdentity): void {
    this.#server.reloadTls(identity);
    this.#implicitTlsServer?.reloadTls(identity);
  }

  stats(): SmtpStats {
    return this.#counters.snapshot(this.#clients.sessions.size);
  }

  async #listen({ server }: MailServer, port: number): Promise<{ address: string; port: number }> {
    server.listen({ port, host: this.#options.host });
    await once(server, 'listening');
    const bound = server.address() as AddressInfo;
    return { address: bound.address, port: bound.port };
  }

  async #stop(graceMs: number): Promise<void> {
    clearInterval(this.#sweeper);
    const servers = [this.#server, this.#implicitTlsServer].flatMap(mail => mail?.server ?? []);
    const closed = servers.filter(server => server.listening).map(server => once(server, 'close'));
    if (closed.length === 0) return;
    for (const server of servers) server.close();
    const { sessions, turnedAway } = this.#clients;
    for (const session of sessions) session.shutDown();
    const ended = Promise.all(closed);
    if ((await within(graceMs, ended)) === null) {
      for (const session of sessions) session.terminate();
      for (const socket of turnedAway) socket.destroy();
    }
    if ((await within(TEAR_OFF_MS, ended)) === null) {
      for (const session of sessions) session._socket.destroy();
    }
    await ended;
    // The server emits its `close` just before its last sockets do.
    while (sessions.size > 0) await setImmediate();
    this.#log.info({}, 'smtp stopped');
  }

  #sweepMs(): number {
    const { dataTimeoutMs, dataWindowMs, handshakeTimeoutMs, sessionTimeoutMs } = this.#options;
    const shortestMs = Math.min(dataTimeoutMs, dataWindowMs, handshakeTimeoutMs, sessionTimeoutMs);
    return Math.min(SWEEP_MS, Math.ceil(shortestMs / 4));
  }

  #sweep(): void {
    this.#clock.tick();
    const nowMs = this.#clock.nowMs();
    for (const session of this.#clients.sessions) session.expire(nowMs);
  }
}
