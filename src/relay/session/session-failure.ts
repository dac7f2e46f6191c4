import { codeOrReasonOf } from '../../lib/async.js';
import { describeReply, parseReply, printable, type ServerReply, type Step } from './reply.js';

export type FailureKind =
  /** No connection was made, for another reason than time. */
  | 'unreachable'
  /** A 4yz or 5yz reply; `reply` has it. */
  | 'refused'
  /** The connection ended, or what came was not SMTP. */
  | 'lost'
  | 'timeout'
  /** No TLS, or not with the certificate that it takes. */
  | 'tls'
  | 'auth'
  /** All connections were in use for too long. */
  | 'busy'
  /** The service is being stopped. */
  | 'stopped';

/** A session could not be set up, so nothing of the message was handed over. */
export class SessionFailure extends Error {
  /** The step at which it failed; null before there was a connection. */
  readonly step: Step | null;
  readonly reply: ServerReply | null;

  constructor(
    readonly kind: FailureKind,
    /** For the admin. */
    readonly detail: string,
    { step = null, reply = null }: { readonly step?: Step | null; readonly reply?: ServerReply | null } = {},
  ) {
    super(`${kind}: ${detail}`);
    this.step = step;
    this.reply = reply;
  }
}

export function stopping(): SessionFailure {
  return new SessionFailure('stopped', 'the service is being stopped');
}

/** Fields of the library's errors. */
export interface LibraryError extends Error {
  readonly code?: string | undefined;
  /** The code of the system or of TLS, when `code` is one of the library. */
  readonly originalCode?: string | undefined;
  /** The reply that caused the error, its lines joined by LF. */
  readonly response?: string | undefined;
  readonly command?: string | undefined;
}

/** Replies to EHLO of a server without extensions (RFC 5321 section 4.2.2), which has no STARTTLS either. */
const NO_EXTENSIONS: readonly number[] = [500, 501, 502, 504];

/**
 * Translates an error of the library during the set-up of a session.
 * @param facts.isStartingTls between STARTTLS and the end of the handshake
 */
export function failureOf(
  error: LibraryError,
  facts: { readonly isHandshake: boolean; readonly isStartingTls: boolean; readonly needsTls: boolean },
): SessionFailure {
  const step = facts.isHandshake || facts.isStartingTls ? 'STARTTLS' : stepOf(error.command);
  const reply = error.response === undefined ? null : parseReply(error.response.split('\n'));
  if (reply !== null && reply.code >= 400) {
    const lacksTls = step === 'EHLO' && facts.needsTls && NO_EXTENSIONS.includes(reply.code);
    const kind = lacksTls ? 'tls' : 'refused';
    return new SessionFailure(kind, `${describeReply(reply)} (at ${step})`, { step, reply });
  }
  const words = printable(error.originalCode ?? error.message);
  if (error.code === 'ETIMEDOUT' || error.originalCode === 'ETIMEDOUT') {
    return new SessionFailure('timeout', words, { step });
  }
  if (facts.isHandshake || error.code === 'ETLS') {
    return new SessionFailure('tls', tlsWords(error), { step });
  }
  return new SessionFailure('lost', `${words} (while the session was set up)`, { step });
}

/** Translates an error while connecting or looking up the host name. */
export function connectFailureOf(error: unknown, where: string): SessionFailure {
  const words = codeOrReasonOf(error);
  const kind = words === 'ETIMEDOUT' ? 'timeout' : 'unreachable';
  return new SessionFailure(kind, `cannot connect to ${where}: ${words}`);
}

function tlsWords({ message, originalCode }: LibraryError): string {
  const code = originalCode === undefined ? '' : ` (${originalCode})`;
  return `TLS handshake: ${printable(message)}${code}`;
}

function stepOf(command = ''): Step {
  if (command.startsWith('AUTH')) return 'AUTH';
  if (command === 'STARTTLS') return 'STARTTLS';
  return command === 'EHLO' || command === 'HELO' ? 'EHLO' : 'GREETING';
}
