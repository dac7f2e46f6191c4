import type { RelayAttempt } from '../../usecases/ports.js';
import { withFinalLineEnd } from '../session/content.js';
import type { MailWire } from '../session/smtp-session.js';
import {
  inTransaction,
  isOfClass,
  mailCommand,
  notAsAsked,
  sendDot,
  sendUpToDot,
  type TransactionEnd,
  type TransactionTimeouts,
} from '../session/transaction.js';

/**
 * Runs one mail transaction and retries nothing. Commands are sent one at a time. DATA is sent only if every recipient
 * was accepted, so that one refused recipient refuses the whole message. Never throws for what a server does.
 */
export function runTransaction(
  wire: MailWire,
  { envelope, content: given }: RelayAttempt,
  timeouts: TransactionTimeouts,
): Promise<TransactionEnd> {
  return inTransaction<TransactionEnd>(async progress => {
    const content = withFinalLineEnd(given);
    if (wire.maxMessageBytes !== null && content.length > wire.maxMessageBytes) {
      return { end: 'oversize', maxBytes: wire.maxMessageBytes };
    }
    const mail = await wire.command(mailCommand(wire, envelope.from, content.length), timeouts.mailMs);
    if (!isOfClass(mail, 2)) return notAsAsked(progress.at, mail);
    for (const [index, recipient] of envelope.recipients.entries()) {
      progress.at = { step: 'RCPT', recipient: index + 1 };
      const rcpt = await wire.command(`RCPT TO:<${recipient}>`, timeouts.commandMs);
      if (!isOfClass(rcpt, 2)) return notAsAsked(progress.at, rcpt);
    }
    const early = await sendUpToDot(wire, content, progress, timeouts);
    return early ?? sendDot(wire, progress, timeouts);
  });
}
