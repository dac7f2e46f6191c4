import { readFile } from 'node:fs/promises';
import net from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { codeOrReasonOf } from '../../lib/async.js';
import { LibraryConnection } from './library-connection.js';
import type { SmarthostOptions } from './options.js';
import { MAX_REPLY_BYTES, parseReply, printable } from './reply.js';
import { connectFailureOf, failureOf, SessionFailure } from './session-failure.js';
import { type Extensions, SmtpSession } from './smtp-session.js';

/** How long one address of a host is tried before the next one is tried too (RFC 8305 section 5). */
const ADDRESS_ATTEMPT_MS = 1_000;
/** The mechanisms with a password that the library supports, in order of preference. */
const MECHANISMS = ['PLAIN', 'LOGIN', 'CRAM-MD5'] as const;

interface Secrets {
  readonly password: string | null;
  readonly ca: Buffer | null;
}

/**
 * A session that is being set up: connection, greeting, EHLO, STARTTLS and AUTH, all within `setupMs`. `session`
 * rejects only with a `SessionFailure`; then no socket and no timer is left.
 */
export class SessionOpening {
  readonly session: Promise<SmtpSession>;
  readonly #options: SmarthostOptions;
  readonly #timer: NodeJS.Timeout;
  #socket: net.Socket | null = null;
  #connection: LibraryConnection | null = null;
  #failure: SessionFailure | null = null;
  #isOpen = false;
  #reject: (failure: SessionFailure) => void = () => {};

  constructor(options: SmarthostOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => {
      this.abort(new SessionFailure('E_RELAY_TIMEOUT', `no session within ${options.setupMs} ms`));
    }, options.setupMs);
    const failed = new Promise<never>((_resolve, reject) => {
      this.#reject = reject;
    });
    this.session = Promise.race([this.#open(), failed]).finally(() => clearTimeout(this.#timer));
  }

  /** Gives up. Has no effect once the session is set up. */
  abort(failure: SessionFailure): void {
    if (this.#isOpen || this.#failure !== null) return;
    this.#failure = failure;
    this.#connection?.close();
    this.#socket?.destroy();
    this.#reject(failure);
  }

  async #open(): Promise<SmtpSession> {
    try {
      const secrets = await this.#readSecrets();
      const connection = await this.#connect(secrets);
      const extensions = await this.#greet(connection);
      if (secrets.password !== null) await this.#authenticate(connection, extensions, secrets.password);
      this.#checkAbort();
      if (connection.isOutOfStep) {
        throw new SessionFailure('E_RELAY_UNREACHABLE', 'the server sends more than it is asked for');
      }
      this.#isOpen = true;
      return new SmtpSession(connection, extensions);
    } catch (error) {
      const failure =
        error instanceof SessionFailure
          ? error
          : new SessionFailure('E_RELAY_UNREACHABLE', codeOrReasonOf(error));
      this.abort(failure);
      throw failure;
    }
  }

  async #readSecrets(): Promise<Secrets> {
    const { passwordFile, caFile } = this.#options;
    const [password, ca] = await Promise.all([
      passwordFile === null
        ? null
        : readSecret(passwordFile).catch(cannotRead('E_RELAY_AUTH_FAILED', passwordFile)),
      caFile === null ? null : readFile(caFile).catch(cannotRead('E_RELAY_TLS_FAILED', caFile)),
    ]);
    this.#checkAbort();
    return { password, ca };
  }

  /** Uses the resolver of the system, which reads /etc/hosts and does not cache names for long. */
  async #connect({ ca }: Secrets): Promise<LibraryConnection> {
    const { host, port, tls, hostname, setupMs } = this.#options;
    const socket = net.connect({ host, port, autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS });
    this.#socket = socket;
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void => reject(connectFailureOf(error, `${host} port ${port}`));
      socket.once('error', failed);
      socket.once('connect', () => {
        socket.removeListener('error', failed);
        resolve();
      });
    });
    this.#checkAbort();
    const connection = new LibraryConnection({
      connection: socket,
      host,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      tls: tlsOptions(ca),
      name: hostname,
      logger: false,
      // Our own timer limits the whole set-up; these only have to be longer.
      connectionTimeout: 2 * setupMs,
      greetingTimeout: 2 * setupMs,
      socketTimeout: 2 * setupMs,
      socketCloseTimeout: 0,
      maxResponseSize: MAX_REPLY_BYTES,
    });
    this.#connection = connection;
    return connection;
  }

  async #greet(connection: LibraryConnection): Promise<Extensions> {
    const { tls } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void => {
        reject(
          failureOf(error, { isHandshake: connection.upgrading === true, needsTls: tls === 'starttls' }),
        );
      };
      connection.on('error', failed);
      connection.connect(error => (error === undefined ? resolve() : failed(error)));
    });
    this.#checkAbort();
    if (tls !== 'none' && !connection.secure) {
      throw new SessionFailure('E_RELAY_TLS_FAILED', 'the connection is not encrypted');
    }
    return extensionsOf(lastReply(connection));
  }

  async #authenticate(connection: LibraryConnection, extensions: Extensions, pass: string): Promise<void> {
    const offered = (extensions.get('AUTH') ?? '').toUpperCase().split(/\s+/);
    const method = MECHANISMS.find(mechanism => offered.includes(mechanism));
    if (method === undefined) {
      const what = extensions.has('AUTH') ? `only AUTH ${extensions.get('AUTH')}` : 'no AUTH';
      throw new SessionFailure('E_RELAY_AUTH_FAILED', `the server offers ${what}`);
    }
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void =>
        reject(failureOf(error, { isHandshake: false, needsTls: false }));
      connection.on('error', failed);
      connection.login({ method, user: this.#options.user ?? '', pass }, error => {
        if (error === null) resolve();
        else failed(error);
      });
    });
    lastReply(connection);
  }

  #checkAbort(): void {
    if (this.#failure !== null) throw this.#failure;
  }
}

/** The library sets the name that the certificate must have: that of the host. */
function tlsOptions(ca: Buffer | null): ConnectionOptions {
  const options: ConnectionOptions = { rejectUnauthorized: true, minVersion: 'TLSv1.2' };
  return ca === null ? options : { ...options, ca };
}

/**
 * The lines of the last reply. The library looks only at its first digit, so this checks that it is a reply.
 * @throws SessionFailure
 */
function lastReply(connection: LibraryConnection): readonly string[] {
  const text = connection.lastServerResponse || '';
  const lines = text.split('\n');
  if (parseReply(lines) !== null) return lines;
  throw new SessionFailure('E_RELAY_UNREACHABLE', `no SMTP reply: "${printable(text)}"`);
}

/** The extensions in the reply to EHLO or HELO, whose first line is the server's name. */
function extensionsOf(lines: readonly string[]): Extensions {
  return new Map(
    lines.slice(1).map(line => {
      // Some servers write `AUTH=PLAIN`, as was usual before RFC 4954.
      const [keyword = '', ...parameters] = line
        .slice(4)
        .trim()
        .split(/[\s=]+/);
      return [keyword.toUpperCase(), parameters.join(' ')];
    }),
  );
}

function cannotRead(errorCode: 'E_RELAY_AUTH_FAILED' | 'E_RELAY_TLS_FAILED', path: string) {
  return (error: unknown): never => {
    throw new SessionFailure(errorCode, `cannot read ${path}: ${codeOrReasonOf(error)}`);
  };
}

/** Reads a password from its file, without the line end that editors add. Rejects when it is empty or unreadable. */
export async function readSecret(path: string): Promise<string> {
  const secret = (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  if (secret === '') throw new Error('the file is empty');
  return secret;
}
