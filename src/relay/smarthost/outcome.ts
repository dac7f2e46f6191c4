import type { RelayErrorCode, RelayOutcome } from '../../usecases/ports.js';
import { describeReply } from '../session/reply.js';
import type { SessionFailure } from '../session/session-failure.js';
import { describePlace, mayHaveIt, type TransactionEnd } from '../session/transaction.js';
import { classifyReply } from './classify-reply.js';

/**
 * The outcome that the end of a transaction means for the agent (`sendMessage`): `rejected` only if nobody can have
 * got the message, because a rejected message may be sent again; `unknown` if somebody may have got it.
 */
export function outcomeOf(end: TransactionEnd): RelayOutcome {
  switch (end.end) {
    case 'accepted':
      return { status: 'accepted', detail: describeReply(end.reply) };
    case 'oversize':
      return rejected('E_MESSAGE_TOO_LARGE', `the relay takes messages of up to ${end.maxBytes} bytes`);
    case 'refused':
      return rejected(
        classifyReply(end.at.step, end.reply),
        `${describeReply(end.reply)} (at ${describePlace(end.at)})`,
      );
    case 'confused': {
      const detail = `unexpected at ${describePlace(end.at)}: ${describeReply(end.reply)}`;
      return mayHaveIt(end) ? unknown(detail) : rejected('E_RELAY_UNREACHABLE', detail);
    }
    case 'lost': {
      const detail = `${end.words} (at ${describePlace(end.at)})`;
      if (end.hasDotLeft) return unknown(detail);
      return rejected(end.reason === 'timeout' ? 'E_RELAY_TIMEOUT' : 'E_RELAY_UNREACHABLE', detail);
    }
  }
}

/** The outcome for a message when no session could be set up for it. */
export function outcomeOfFailure(failure: SessionFailure): RelayOutcome {
  return rejected(errorCodeOf(failure), failure.detail);
}

function errorCodeOf({ kind, step, reply }: SessionFailure): RelayErrorCode {
  switch (kind) {
    case 'refused':
      return reply === null ? 'E_RELAY_UNREACHABLE' : classifyReply(step ?? 'GREETING', reply);
    case 'tls':
      return 'E_RELAY_TLS_FAILED';
    case 'auth':
      return 'E_RELAY_AUTH_FAILED';
    case 'timeout':
    case 'busy':
      return 'E_RELAY_TIMEOUT';
    case 'unreachable':
    case 'lost':
    case 'stopped':
      return 'E_RELAY_UNREACHABLE';
  }
}

/** Nobody has the message. `detail` is for the admin. */
export function rejected(errorCode: RelayErrorCode, detail: string): RelayOutcome {
  return { status: 'rejected', errorCode, detail };
}

/** Somebody may have the message, so it is never sent again. `detail` is for the admin. */
export function unknown(detail: string): RelayOutcome {
  return { status: 'unknown', errorCode: 'acceptance_unknown', detail };
}
