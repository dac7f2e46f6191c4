import { withFinalLineEnd } from '../session/content.js';
import type { ServerReply } from '../session/reply.js';
import type { MailWire, SmtpSession } from '../session/smtp-session.js';
import {
  inTransaction,
  isOfClass,
  mailCommand,
  notAsAsked,
  type Progress,
  sendDot,
  sendUpToDot,
  type TransactionEnd,
  type TransactionTimeouts,
} from '../session/transaction.js';

/** What a delivery needs of a session beyond a submission. */
export type DeliveryWire = MailWire & Pick<SmtpSession, 'offersPipelining' | 'isUsable' | 'issue'>;

export type DeliveryEnd =
  | TransactionEnd
  /** No recipient was accepted, so DATA was not sent. */
  | { readonly end: 'no_recipients' }
  /** Everything but the final dot was sent, and the dot was not allowed. */
  | { readonly end: 'withheld' };

export interface DeliveryMessage {
  readonly from: string;
  readonly recipients: readonly string[];
  readonly content: Uint8Array;
  /** A 4yz or 5yz reply to RCPT; the others go on without this recipient. */
  onRefused(recipient: string, reply: ServerReply): void;
  /** Called with the accepted recipients when all but the final dot was written; only true lets the dot out. */
  beforeDot(accepted: readonly string[]): Promise<boolean>;
}

export interface DeliveryTimeouts extends TransactionTimeouts {
  /** For the replies to MAIL and to all RCPT together. */
  readonly envelopeMs: number;
}

/**
 * Runs one mail transaction for whichever recipients the server accepts. MAIL and RCPT are sent together where the
 * server offers it (RFC 2920); DATA never goes with them, because some servers answer it with 354 when they have
 * refused every recipient. Never throws for what a server does.
 */
export function runDelivery(
  wire: DeliveryWire,
  message: DeliveryMessage,
  timeouts: DeliveryTimeouts,
): Promise<DeliveryEnd> {
  return inTransaction<DeliveryEnd>(async progress => {
    const content = withFinalLineEnd(message.content);
    if (wire.maxMessageBytes !== null && content.length > wire.maxMessageBytes) {
      return { end: 'oversize', maxBytes: wire.maxMessageBytes };
    }
    const { from, recipients } = message;
    const lines = [
      mailCommand(wire, from, content.length),
      ...recipients.map(recipient => `RCPT TO:<${recipient}>`),
    ];
    const [mail, ...replies] = await sendEnvelope(wire, lines, progress, timeouts);
    if (mail !== undefined && !isOfClass(mail, 2)) return notAsAsked({ step: 'MAIL' }, mail);
    const accepted: string[] = [];
    for (const [index, reply] of replies.entries()) {
      const recipient = recipients[index] ?? '';
      if (isOfClass(reply, 2)) accepted.push(recipient);
      else if (reply.code === 421 || !(isOfClass(reply, 4) || isOfClass(reply, 5))) {
        return notAsAsked({ step: 'RCPT', recipient: index + 1 }, reply);
      } else message.onRefused(recipient, reply);
    }
    if (accepted.length === 0) return { end: 'no_recipients' };
    const early = await sendUpToDot(wire, content, progress, timeouts);
    if (early !== null) return early;
    if (!(await message.beforeDot(accepted))) return { end: 'withheld' };
    // The server may have spoken or gone meanwhile. Then the dot has not left, and it does not.
    if (!wire.isUsable) return notAsAsked(progress.at, await wire.nextReply(timeouts.blockMs));
    return sendDot(wire, progress, timeouts);
  });
}

/**
 * Sends MAIL and every RCPT. @returns their replies in order; the last one is that to MAIL when it was refused and
 * nothing else had been sent, or a 421, which ends the session (RFC 5321 section 3.8)
 */
async function sendEnvelope(
  wire: DeliveryWire,
  lines: readonly string[],
  progress: Progress,
  { mailMs, commandMs, envelopeMs }: DeliveryTimeouts,
): Promise<readonly ServerReply[]> {
  const endsAtMs = performance.now() + envelopeMs;
  const replies: ServerReply[] = [];
  if (wire.offersPipelining) wire.issue(lines);
  for (const [index, line] of lines.entries()) {
    progress.at = index === 0 ? { step: 'MAIL' } : { step: 'RCPT', recipient: index };
    if (!wire.offersPipelining) wire.issue([line]);
    const leftMs = Math.max(1, Math.ceil(endsAtMs - performance.now()));
    const reply = await wire.nextReply(Math.min(index === 0 ? mailMs : commandMs, leftMs));
    replies.push(reply);
    const isRefusedMail = index === 0 && !isOfClass(reply, 2) && !wire.offersPipelining;
    if (reply.code === 421 || isRefusedMail) break;
  }
  return replies;
}
