import type net from 'node:net';
import tls from 'node:tls';
import { SMTPServer } from 'smtp-server';
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import { clientNetworks } from '../domain/addresses.js';
import type { Admission, OpenClients, Place } from './connection-limits.js';
import { MailConnection, type SessionContext } from './mail-connection.js';
import type { TlsIdentity } from './options.js';
import { replies, type SmtpReply } from './replies.js';

/** How long a client that was refused may take to close its side. */
const TURN_AWAY_MS = 1000;

/** Commands that are never offered: the receiving port needs no credentials and trusts no proxies. */
const DISABLED = ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'];

/** A listening port of the listener. */
export interface Port {
  /** Shared with the other ports of the listener. */
  readonly clients: OpenClients<MailConnection>;
  /** Does the TLS handshake come before the greeting? */
  readonly isImplicitTls: boolean;
}

/** The library's server on one port. Admits clients within the limits and serves each with a `MailConnection`. */
export class MailServer extends SMTPServer {
  readonly #context: SessionContext;
  readonly #clients: OpenClients<MailConnection>;

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
      // For node's server: a client that closes its side right after the final dot still gets the reply.
      ...{ allowHalfOpen: true },
      // The session does the handshake, not the server, so that the limits on sessions apply to it.
      secure: port.isImplicitTls,
      needsUpgrade: port.isImplicitTls,
      ...tlsOptions(options.tls),
    });
    this.#context = context;
    this.#clients = port.clients;
  }

  /** New sessions use the new certificate, open ones keep theirs. Throws if the pair is not valid. */
  reloadTls(identity: TlsIdentity): void {
    // Checked here, because the library drops the old certificate before it checks the new one.
    checkTlsIdentity(identity);
    this.updateSecureContext(tlsOptions(identity));
  }

  /** No PROXY header is awaited. The socket gets an error listener at once: an unheard error would end the process. */
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
    const client = clientNetworks(address);
    const admission = this.#clients.admit(client);
    if (admission !== 'own' && admission !== 'lent') {
      this.#turnAway(socket, admission);
      return;
    }
    const { counters, log } = this.#context;
    const onClosed = (closed: MailConnection): void => {
      this.#clients.closed(closed);
      log.debug({ session: closed.id }, 'smtp connection closed');
    };
    const connection = new MailConnection(this, socket, socketOptions ?? {}, this.#context, {
      client,
      onClosed,
    });
    counters.connectionsTotal += 1;
    this.connections.add(connection);
    this.#clients.open(connection, admission);
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

  #turnAway(socket: net.Socket, reason: Exclude<Admission, Place>): void {
    const { counters, log } = this.#context;
    counters.refused(reason);
    log.info({ client: socket.remoteAddress, reason }, 'smtp connection refused');
    const reply: SmtpReply =
      reason === 'too_many_clients' ? replies.tooManyClients : replies.tooManyFromAddress;
    const { turnedAway } = this.#clients;
    turnedAway.add(socket);
    const timer = setTimeout(() => socket.destroy(), TURN_AWAY_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      turnedAway.delete(socket);
    });
    socket.resume();
    // No plain text where the client expects a TLS handshake.
    if (this.options.secure) socket.end();
    else socket.end(reply.line);
  }
}

/** The library's built-in certificate, whose key is public, must never be used. */
function tlsOptions(identity: TlsIdentity | undefined): object {
  return identity === undefined ? {} : { key: identity.key, cert: identity.cert, minVersion: 'TLSv1.2' };
}

/** Throws unless the certificate and the key are well formed and belong together. */
export function checkTlsIdentity({ cert, key }: TlsIdentity): void {
  tls.createSecureContext({ cert, key });
}
