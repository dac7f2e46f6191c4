import type { RelayAttempt } from '../usecases/ports.js';
import { withFinalLineEnd } from './final-line-end.js';
import type { Reply, Step } from './reply.js';
import type { SmarthostTimeouts } from './smarthost-options.js';
import { type LossReason, type MailWire, SessionLost } from './smtp-session.js';
import { FINAL_DOT, stuffDots } from './stuff-dots.js';

/** How a mail transaction ended. */
export type TransactionEnd =
  /** 2yz after the final dot. */
  | { readonly end: 'accepted'; readonly reply: Reply }
  /** 4yz or 5yz: the server says that it did not do what it was asked for. */
  | { readonly end: 'refused'; readonly at: Place; readonly reply: Reply }
  /** A reply of a class that has no place there; what the server does is not known. */
  | { readonly end: 'confused'; readonly at: Place; readonly reply: Reply }
  | {
      readonly end: 'lost';
      readonly at: Place;
      readonly reason: LossReason;
      readonly words: string;
      /** A byte of the final dot may have left this process: the server may have the whole message. */
      readonly hasDotLeft: boolean;
    }
  /** The server announced that it takes no message of this size: nothing was sent (RFC 1870 section 6.3). */
  | { readonly end: 'oversize'; readonly maxBytes: number };

export interface Place {
  readonly step: Step;
  /** Which of the recipients, from 1 on; for RCPT. */
  readonly recipient?: number;
}

type Limits = Pick<SmarthostTimeouts, 'commandMs' | 'dataMs' | 'blockMs' | 'contentMs' | 'verdictMs'>;

export interface TransactionOptions extends Limits {
  /** For the answer to MAIL, which on a session that was used before shows whether it still lives. */
  readonly mailMs: number;
}

/**
 * One mail transaction (RFC 5321 section 3.3), once, without a second try of anything. Commands go one at a
 * time: DATA is sent only when every recipient was accepted, so that one refusal refuses them all.
 *
 * The final dot is handed to the socket only when everything before it has left this process. A session that
 * is lost earlier cannot have carried the end of the message, and a server acts on nothing less (section
 * 4.1.1.4); a session that is lost later may have. That moment alone decides what a loss means.
 *
 * Never throws for what a server does.
 */
export async function runTransaction(
  wire: MailWire,
  attempt: RelayAttempt,
  options: TransactionOptions,
): Promise<TransactionEnd> {
  const { envelope } = attempt;
  const content = withFinalLineEnd(attempt.content);
  if (wire.maxMessageBytes !== null && content.length > wire.maxMessageBytes) {
    return { end: 'oversize', maxBytes: wire.maxMessageBytes };
  }
  let at: Place = { step: 'MAIL' };
  let hasDotLeft = false;
  try {
    const size = wire.offersSize ? ` SIZE=${content.length}` : '';
    const mail = await wire.command(`MAIL FROM:<${envelope.from}>${size}`, options.mailMs);
    if (!isOfClass(mail, 2)) return notAsAsked(at, mail);
    for (const [index, recipient] of envelope.recipients.entries()) {
      at = { step: 'RCPT', recipient: index + 1 };
      const rcpt = await wire.command(`RCPT TO:<${recipient}>`, options.commandMs);
      if (!isOfClass(rcpt, 2)) return notAsAsked(at, rcpt);
    }
    at = { step: 'DATA' };
    const data = await wire.command('DATA', options.dataMs);
    if (data.code !== 354) return notAsAsked(at, data);
    at = { step: 'CONTENT' };
    const early = await sendContent(wire, content, options);
    if (early !== null) return notAsAsked(at, early);
    at = { step: 'DOT' };
    hasDotLeft = true;
    await wire.send(FINAL_DOT, options.blockMs);
    const verdict = await wire.nextReply(options.verdictMs);
    return isOfClass(verdict, 2) ? { end: 'accepted', reply: verdict } : notAsAsked(at, verdict);
  } catch (error) {
    if (!(error instanceof SessionLost)) throw error;
    return { end: 'lost', at, reason: error.reason, words: error.words, hasDotLeft };
  }
}

/** Sends everything but the final dot; the reply that came before its time, if one did. */
async function sendContent(wire: MailWire, content: Uint8Array, limits: Limits): Promise<Reply | null> {
  const endsAtMs = performance.now() + limits.contentMs;
  for (const block of stuffDots(content)) {
    const leftMs = Math.max(1, Math.ceil(endsAtMs - performance.now()));
    await wire.send(block, Math.min(limits.blockMs, leftMs));
    if (wire.hasUnread) return wire.nextReply(limits.blockMs);
  }
  return null;
}

function notAsAsked(at: Place, reply: Reply): TransactionEnd {
  return { end: isOfClass(reply, 4) || isOfClass(reply, 5) ? 'refused' : 'confused', at, reply };
}

function isOfClass(reply: Reply, first: 2 | 4 | 5): boolean {
  return Math.floor(reply.code / 100) === first;
}
