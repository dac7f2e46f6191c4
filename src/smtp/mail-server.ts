import type net from 'node:net';
import tls from 'node:tls';
import { SMTPServer } from 'smtp-server';
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import type { Admission, OpenClients } from './connection-limits.js';
import { MailConnection, type SessionContext } from './mail-connection.js';
import type { TlsIdentity } from './options.js';
import { type Reply, replies } from './replies.js';

/** How long a client that was not let in may take to hang up. */
const TURN_AWAY_MS = 1000;

/** Off for good: no credentials on the receiving port, no trusted proxies, no jokes of old servers. */
const DISABLED = ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'];

export interface Port {
  /** Shared with the other ports of the listener. */
  readonly clients: OpenClients;
  /** TLS comes first, and the greeting behind it. */
  readonly isImplicitTls: boolean;
}

/** The library's server on one port, letting in as many clients as it may, each served by a `MailConnection`. */
export class MailServer extends SMTPServer {
  readonly #context: SessionContext;
  readonly #clients: OpenClients;

  constructor(context: SessionContext, port: Port) {
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
      // Handed to node: a client that ends its side right behind the final dot still gets its verdict.
      ...{ allowHalfOpen: true },
      // The session makes the handshake, not the server, so that it is counted and timed as any other.
      secure: port.isImplicitTls,
      needsUpgrade: port.isImplicitTls,
      ...tlsOptions(options.tls),
    });
    this.#context = context;
    this.#clients = port.clients;
  }

  /** New sessions use the new certificate; those that are open keep theirs. Throws at a bad pair. */
  reloadTls(identity: TlsIdentity): void {
    // The library forgets the old one before it has looked at the new one.
    checkTlsIdentity(identity);
    this.updateSecureContext(tlsOptions(identity));
  }

  /** There is no PROXY header to wait for: straight on, and no moment without an error listener. */
  override _handleProxy(
    socket: net.Socket,
    callback: (error: Error | null, options?: { id: string }) => void,
  ): void {
    socket.on('error', () => {});
    callback(null, { id: this.#context.nextSessionId() });
  }

  override connect(socket: net.Socket, socketOptions?: SMTPConnectionOptions | null): void {
    const address = socket.remoteAddress;
    if (address === undefined) {
      socket.destroy();
      return;
    }
    const admission = this.#clients.admit(address);
    if (admission !== 'admitted') {
      this.#turnAway(socket, admission);
      return;
    }
    const { counters, log } = this.#context;
    const connection = new MailConnection(this, socket, socketOptions ?? {}, this.#context, closed => {
      this.#clients.closed(closed);
      log.debug({ session: closed.id }, 'smtp connection closed');
    });
    counters.connectionsTotal += 1;
    this.connections.add(connection);
    this.#clients.open(connection, address);
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
    const { turnedAway } = this.#clients;
    turnedAway.add(socket);
    const timer = setTimeout(() => socket.destroy(), TURN_AWAY_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      turnedAway.delete(socket);
    });
    socket.resume();
    // No words in clear where the client expects a handshake.
    if (this.options.secure) socket.end();
    else socket.end(reply.line);
  }
}

/** Nothing of the library's own identity, whose key is public, may ever be shown to a client. */
function tlsOptions(identity: TlsIdentity | undefined): object {
  return identity === undefined ? {} : { key: identity.key, cert: identity.cert, minVersion: 'TLSv1.2' };
}

/** Throws unless the certificate and the key are well formed and belong together. */
export function checkTlsIdentity({ cert, key }: TlsIdentity): void {
  tls.createSecureContext({ cert, key });
}
