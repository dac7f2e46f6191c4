import type net from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import { type Admission, ClientLimits } from './client-limits.js';
import { MailConnection, type SessionContext } from './mail-connection.js';
import { type Reply, replies } from './replies.js';
import type { TlsIdentity } from './smtp-listener-options.js';

/** How long a client that was not let in may take to hang up. */
const TURN_AWAY_MS = 1000;

/** Off for good: no credentials on the receiving port, no trusted proxies, no jokes of old servers. */
const DISABLED = ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'];

/** The library's server, letting in as many clients as it may, each served by a `MailConnection`. */
export class MailServer extends SMTPServer {
  readonly #context: SessionContext;
  readonly #limits: ClientLimits;
  readonly #sessions = new Set<MailConnection>();
  readonly #turnedAway = new Set<net.Socket>();
  #lastId = 0;

  constructor(context: SessionContext) {
    const { options } = context;
    super({
      name: options.hostname,
      heloResponse: '%s',
      size: options.maxMessageBytes,
      disabledCommands: options.tls === undefined ? [...DISABLED, 'STARTTLS'] : DISABLED,
      hideSTARTTLS: options.tls === undefined,
      hideENHANCEDSTATUSCODES: false,
      disableReverseLookup: true,
      socketTimeout: options.idleTimeoutMs,
      logger: false,
      ...tlsOptions(options.tls),
    });
    this.#context = context;
    this.#limits = new ClientLimits(options.maxClients, options.maxClientsPerAddress);
  }

  /** Open sessions, those that are being closed included. */
  get sessions(): ReadonlySet<MailConnection> {
    return this.#sessions;
  }

  /** Sockets that no session owns. */
  get turnedAway(): ReadonlySet<net.Socket> {
    return this.#turnedAway;
  }

  /** New sessions use the new certificate; those that are open keep theirs. */
  reloadTls(identity: TlsIdentity): void {
    this.updateSecureContext(tlsOptions(identity));
  }

  /** There is no PROXY header to wait for: straight on, and no moment without an error listener. */
  override _handleProxy(
    socket: net.Socket,
    callback: (error: Error | null, options?: { id: string }) => void,
  ): void {
    socket.on('error', () => {});
    this.#lastId += 1;
    callback(null, { id: this.#lastId.toString(36) });
  }

  override connect(socket: net.Socket, socketOptions?: SMTPConnectionOptions | null): void {
    const address = socket.remoteAddress;
    if (address === undefined) {
      socket.destroy();
      return;
    }
    const admission = this.#limits.admit(address);
    if (admission !== 'admitted') {
      this.#turnAway(socket, admission);
      return;
    }
    const { counters, log } = this.#context;
    const connection = new MailConnection(this, socket, socketOptions ?? {}, this.#context, closed => {
      this.#sessions.delete(closed);
      this.#limits.release(address);
      log.debug({ session: closed.id }, 'smtp connection closed');
    });
    counters.connectionsTotal += 1;
    this.connections.add(connection);
    this.#sessions.add(connection);
    log.debug({ session: connection.id, client: connection.remoteAddress }, 'smtp connection opened');
    connection.on('error', error => this._onError(error));
    connection.init();
  }

  override onConnect(_session: unknown, callback: () => void): void {
    callback();
  }

  override onSecure(_socket: unknown, _session: unknown, callback: () => void): void {
    callback();
  }

  #turnAway(socket: net.Socket, reason: Exclude<Admission, 'admitted'>): void {
    const { counters, log } = this.#context;
    counters.refused(reason);
    log.info({ client: socket.remoteAddress, reason }, 'smtp connection refused');
    const reply: Reply = reason === 'too_many_clients' ? replies.tooManyClients : replies.tooManyFromAddress;
    this.#turnedAway.add(socket);
    const timer = setTimeout(() => socket.destroy(), TURN_AWAY_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      this.#turnedAway.delete(socket);
    });
    socket.resume();
    socket.end(reply.line);
  }
}

/** Nothing of the library's own identity, whose key is public, may ever be shown to a client. */
function tlsOptions(identity: TlsIdentity | undefined): object {
  return identity === undefined ? {} : { key: identity.key, cert: identity.cert, minVersion: 'TLSv1.2' };
}
