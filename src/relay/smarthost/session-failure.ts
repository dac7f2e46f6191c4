import { codeOrReasonOf } from '../../lib/async.js';
import type { RelayErrorCode } from '../../usecases/ports.js';
import { classifyReply } from './classify-reply.js';
import { describeReply, parseReply, printable, type Step } from './reply.js';

/** A session could not be set up, so nothing of the message was handed over. */
export class SessionFailure extends Error {
  constructor(
    readonly errorCode: RelayErrorCode,
    /** For the admin. */
    readonly detail: string,
  ) {
    super(`${errorCode}: ${detail}`);
  }
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

/** Translates an error of the library during the set-up of a session. */
export function failureOf(
  error: LibraryError,
  facts: { isHandshake: boolean; needsTls: boolean },
): SessionFailure {
  const step = stepOf(error.command);
  const reply = error.response === undefined ? null : parseReply(error.response.split('\n'));
  if (reply !== null && reply.code >= 400) {
    const lacksTls = step === 'EHLO' && facts.needsTls && NO_EXTENSIONS.includes(reply.code);
    const errorCode = lacksTls ? 'E_RELAY_TLS_FAILED' : classifyReply(step, reply);
    return new SessionFailure(errorCode, `${describeReply(reply)} (at ${step})`);
  }
  const words = printable(error.originalCode ?? error.message);
  if (error.code === 'ETIMEDOUT' || error.originalCode === 'ETIMEDOUT') {
    return new SessionFailure('E_RELAY_TIMEOUT', words);
  }
  if (facts.isHandshake || error.code === 'ETLS') {
    return new SessionFailure('E_RELAY_TLS_FAILED', tlsWords(error));
  }
  return new SessionFailure('E_RELAY_UNREACHABLE', `${words} (while the session was set up)`);
}

/** Translates an error while connecting or looking up the host name. */
export function connectFailureOf(error: unknown, where: string): SessionFailure {
  const words = codeOrReasonOf(error);
  const errorCode = words === 'ETIMEDOUT' ? 'E_RELAY_TIMEOUT' : 'E_RELAY_UNREACHABLE';
  return new SessionFailure(errorCode, `cannot connect to ${where}: ${words}`);
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
