import net from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { codeOrReasonOf } from '../../lib/async.js';
import { LibraryConnection, type PeerCheck } from './library-connection.js';
import { describeReply, MAX_REPLY_BYTES, parseReply, printable } from './reply.js';
import { connectFailureOf, failureOf, SessionFailure } from './session-failure.js';
import { SmtpSession } from './smtp-session.js';

/** The mechanisms with a password that the library supports, in order of preference. */
const MECHANISMS = ['PLAIN', 'LOGIN', 'CRAM-MD5'] as const;

/** How a session is set up. Times are in milliseconds. */
export interface SessionPlan {
  /** Name or address of the server: the name in SNI, and the one that a certificate is checked against. */
  readonly host: string;
  /** What to connect to, and from where. */
  readonly endpoint: net.TcpNetConnectOpts;
  /** `opportunistic`: STARTTLS where it is offered, and plain text where the server then refuses the command. */
  readonly security: 'none' | 'opportunistic' | 'starttls' | 'implicit';
  readonly tls: ConnectionOptions;
  /** A check of the certificate beyond `tls`, before anything is sent in the encrypted session. */
  readonly checkPeer: PeerCheck | null;
  /** Null: no AUTH. */
  readonly login: { readonly user: string; readonly password: string } | null;
  /** Our name in EHLO. */
  readonly hostname: string;
  readonly connectMs: number;
  /** How long the server may be silent. */
  readonly silenceMs: number;
}

/**
 * A session that is being set up: connection, greeting, EHLO, STARTTLS and AUTH, all within `setupMs`. `session`
 * rejects only with a `SessionFailure`; then no socket and no timer is left.
 */
export class SessionOpening {
  readonly session: Promise<SmtpSession>;
  readonly #timer: NodeJS.Timeout;
  #socket: net.Socket | null = null;
  #connection: LibraryConnection | null = null;
  #failure: SessionFailure | null = null;
  #isOpen = false;
  #reject: (failure: SessionFailure) => void = () => {};

  /** @param plan may read files, and throws a `SessionFailure` when it cannot */
  constructor(setupMs: number, plan: () => SessionPlan | Promise<SessionPlan>) {
    this.#timer = setTimeout(() => {
      const step = this.#connection?.isStartingTls === true ? 'STARTTLS' : null;
      this.abort(new SessionFailure('timeout', `no session within ${setupMs} ms`, { step }));
    }, setupMs);
    const failed = new Promise<never>((_resolve, reject) => {
      this.#reject = reject;
    });
    this.session = Promise.race([this.#open(plan), failed]).finally(() => clearTimeout(this.#timer));
  }

  /** Gives up. Has no effect once the session is set up. */
  abort(failure: SessionFailure): void {
    if (this.#isOpen || this.#failure !== null) return;
    this.#failure = failure;
    this.#connection?.close();
    this.#socket?.destroy();
    this.#reject(failure);
  }

  async #open(makePlan: () => SessionPlan | Promise<SessionPlan>): Promise<SmtpSession> {
    try {
      const plan = await makePlan();
      this.#checkAbort();
      const connection = await this.#connect(plan);
      await this.#greet(connection, plan);
      if (plan.login !== null) await this.#authenticate(connection, plan.login);
      this.#checkAbort();
      if (connection.isClosed) throw closedBy(connection);
      if (connection.isOutOfStep) {
        throw new SessionFailure('lost', 'the server sends more than it is asked for');
      }
      this.#isOpen = true;
      return new SmtpSession(connection);
    } catch (error) {
      const failure =
        error instanceof SessionFailure ? error : new SessionFailure('lost', codeOrReasonOf(error));
      this.abort(failure);
      throw failure;
    }
  }

  async #connect(plan: SessionPlan): Promise<LibraryConnection> {
    const { host, endpoint, security, connectMs, silenceMs } = plan;
    const { port } = endpoint;
    const where = endpoint.host === host ? `${host} port ${port}` : `${host} (${endpoint.host}) port ${port}`;
    const socket = net.connect(endpoint);
    this.#socket = socket;
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void => {
        clearTimeout(timer);
        reject(connectFailureOf(error, where));
      };
      const timer = setTimeout(() => {
        reject(new SessionFailure('timeout', `cannot connect to ${where} within ${connectMs} ms`));
      }, connectMs);
      socket.once('error', failed);
      socket.once('close', () => clearTimeout(timer));
      socket.once('connect', () => {
        clearTimeout(timer);
        socket.removeListener('error', failed);
        resolve();
      });
    });
    this.#checkAbort();
    const connection = new LibraryConnection(
      {
        connection: socket,
        host,
        port,
        secure: security === 'implicit',
        requireTLS: security === 'starttls',
        ignoreTLS: security === 'none',
        opportunisticTLS: security === 'opportunistic',
        tls: plan.tls,
        name: plan.hostname,
        logger: false,
        // Our own timer limits the whole set-up.
        connectionTimeout: 2 ** 31 - 1,
        greetingTimeout: silenceMs,
        socketTimeout: silenceMs,
        socketCloseTimeout: 0,
        maxResponseSize: MAX_REPLY_BYTES,
      },
      plan.checkPeer,
    );
    this.#connection = connection;
    return connection;
  }

  async #greet(connection: LibraryConnection, { security }: SessionPlan): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void => {
        if (connection.isTamperedWith) {
          reject(new SessionFailure('tls', 'plain text follows the reply to STARTTLS'));
          return;
        }
        const facts = {
          isHandshake: connection.upgrading === true,
          isStartingTls: connection.isStartingTls,
          needsTls: security === 'starttls',
        };
        reject(failureOf(error, facts));
      };
      connection.on('error', failed);
      connection.connect(error => (error === undefined ? resolve() : failed(error)));
    });
    this.#checkAbort();
    if ((security === 'starttls' || security === 'implicit') && !connection.secure) {
      throw new SessionFailure('tls', 'the connection is not encrypted');
    }
    checkReply(connection);
  }

  async #authenticate(
    connection: LibraryConnection,
    { user, password }: { readonly user: string; readonly password: string },
  ): Promise<void> {
    const { extensions } = connection;
    const offered = (extensions.get('AUTH') ?? '').toUpperCase().split(/\s+/);
    const method = MECHANISMS.find(mechanism => offered.includes(mechanism));
    if (method === undefined) {
      const what = extensions.has('AUTH') ? `only AUTH ${extensions.get('AUTH')}` : 'no AUTH';
      throw new SessionFailure('auth', `the server offers ${what}`);
    }
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void =>
        reject(failureOf(error, { isHandshake: false, isStartingTls: false, needsTls: false }));
      connection.on('error', failed);
      connection.login({ method, user, pass: password }, error => {
        if (error === null) resolve();
        else failed(error);
      });
    });
    checkReply(connection);
  }

  #checkAbort(): void {
    if (this.#failure !== null) throw this.#failure;
  }
}

/** The library looks only at the first digit of a reply, so this checks that the last one was a reply. */
function checkReply(connection: LibraryConnection): void {
  const text = connection.lastServerResponse || '';
  if (parseReply(text.split('\n')) === null) {
    throw new SessionFailure('lost', `no SMTP reply: "${printable(text)}"`);
  }
}

/** The library calls back as if all were well when the server takes leave (421) in reply to STARTTLS. */
function closedBy(connection: LibraryConnection): SessionFailure {
  const reply = parseReply((connection.lastServerResponse || '').split('\n'));
  return reply?.code === 421
    ? new SessionFailure('refused', `${describeReply(reply)} (at STARTTLS)`, { step: 'STARTTLS', reply })
    : new SessionFailure('lost', 'the server ended the session');
}
