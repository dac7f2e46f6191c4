import type { RelayErrorCode, RelayOutcome } from '../../usecases/ports.js';
import { classifyReply } from './classify-reply.js';
import { describeReply } from './reply.js';
import type { Place, TransactionEnd } from './transaction.js';

/**
 * What the end of a transaction means (decisions, Sending): `rejected` only where nobody can have got the
 * message, `unknown` wherever somebody may have.
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
 * Behind the dot a reply that is none of the foreseen leaves everything open. So does a 2yz in the middle of
 * the content: that server has taken something, whatever it thinks the message is.
 */
function mayHaveIt(at: Place, code: number): boolean {
  return at.step === 'DOT' || (at.step === 'CONTENT' && code < 300);
}

export function rejected(errorCode: RelayErrorCode, detail: string): RelayOutcome {
  return { status: 'rejected', errorCode, detail };
}

export function unknown(detail: string): RelayOutcome {
  return { status: 'unknown', errorCode: 'acceptance_unknown', detail };
}

/** By number, not by address: the record has the addresses, and logs are to do without them. */
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
