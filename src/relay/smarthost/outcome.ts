import type { RelayErrorCode, RelayOutcome } from '../../usecases/ports.js';
import { classifyReply } from './classify-reply.js';
import { describeReply } from './reply.js';
import type { Place, TransactionEnd } from './transaction.js';

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
      return mayHaveIt(end.at, end.reply.code) ? unknown(detail) : rejected('E_RELAY_UNREACHABLE', detail);
    }
    case 'lost': {
      const detail = `${end.words} (at ${describePlace(end.at)})`;
      if (end.hasDotLeft) return unknown(detail);
      return rejected(end.reason === 'timeout' ? 'E_RELAY_TIMEOUT' : 'E_RELAY_UNREACHABLE', detail);
    }
  }
}

/**
 * May the server have taken the message? Yes if an unexpected reply comes after the final dot, and also if a 2yz comes
 * during the content: that server has accepted something.
 */
function mayHaveIt(at: Place, code: number): boolean {
  return at.step === 'DOT' || (at.step === 'CONTENT' && code < 300);
}

/** Nobody has the message. `detail` is for the admin. */
export function rejected(errorCode: RelayErrorCode, detail: string): RelayOutcome {
  return { status: 'rejected', errorCode, detail };
}

/** Somebody may have the message, so it is never sent again. `detail` is for the admin. */
export function unknown(detail: string): RelayOutcome {
  return { status: 'unknown', errorCode: 'acceptance_unknown', detail };
}

/** Names a recipient by its number, because addresses must not stand in logs; the record has them. */
function describePlace({ step, recipient }: Place): string {
  switch (step) {
    case 'RCPT':
      return recipient === undefined ? 'RCPT' : `RCPT, recipient ${recipient}`;
    case 'CONTENT':
      return 'the content, before the final dot';
    case 'DOT':
      return 'the final dot';
    default:
      return step;
  }
}
