import { FINAL_DOT, stuffDots } from './content.js';
import type { ServerReply, Step } from './reply.js';
import { type LossReason, type MailWire, SessionLost } from './smtp-session.js';

/** How a mail transaction ended. */
export type TransactionEnd =
  /** 2yz in reply to the final dot. */
  | { readonly end: 'accepted'; readonly reply: ServerReply }
  /** 4yz or 5yz: the server did not do what it was asked to do. */
  | { readonly end: 'refused'; readonly at: Place; readonly reply: ServerReply }
  /** A reply of an unexpected class; what the server has done is not known. */
  | { readonly end: 'confused'; readonly at: Place; readonly reply: ServerReply }
  | {
      readonly end: 'lost';
      readonly at: Place;
      readonly reason: LossReason;
      readonly words: string;
      /** May a byte of the final dot have been sent? Then the server may have the whole message. */
      readonly hasDotLeft: boolean;
    }
  /** The message exceeds the limit that the server announced, so nothing was sent (RFC 1870 section 6.3). */
  | { readonly end: 'oversize'; readonly maxBytes: number };

/** Where in a transaction something happened. */
export interface Place {
  readonly step: Step;
  /** For RCPT: the number of the recipient, counted from 1. */
  readonly recipient?: number;
}

/** How long to wait for what, in milliseconds. */
export interface TransactionTimeouts {
  /** For the reply to MAIL, which shows whether a session that was used before is still open. */
  readonly mailMs: number;
  /** For the reply to RCPT, and to MAIL on a new session. */
  readonly commandMs: number;
  /** For the reply to DATA. */
  readonly dataMs: number;
  /** For one block of content to be written to the network. */
  readonly blockMs: number;
  /** For the whole content to be written. */
  readonly contentMs: number;
  /** For the reply to the final dot. */
  readonly verdictMs: number;
}

/** How far a transaction has come, for what a loss means. */
export interface Progress {
  at: Place;
  hasDotLeft: boolean;
}

/**
 * Runs a mail transaction (RFC 5321 section 3.3) that keeps its progress up to date.
 *
 * The final dot is written to the socket only when everything before it has been written to the network. If the
 * session is lost before that, the server cannot have the end of the message and does not act on it (section 4.1.1.4).
 * If it is lost afterwards, the server may have the message. Nothing else decides what a loss means.
 *
 * Never throws for what a server does.
 */
export async function inTransaction<End>(
  run: (progress: Progress) => Promise<End | TransactionEnd>,
): Promise<End | TransactionEnd> {
  const progress: Progress = { at: { step: 'MAIL' }, hasDotLeft: false };
  try {
    return await run(progress);
  } catch (error) {
    if (!(error instanceof SessionLost)) throw error;
    const { at, hasDotLeft } = progress;
    return { end: 'lost', at, reason: error.reason, words: error.words, hasDotLeft };
  }
}

/** MAIL with the size where the server wants to know it (RFC 1870). */
export function mailCommand(wire: MailWire, from: string, size: number): string {
  return `MAIL FROM:<${from}>${wire.offersSize ? ` SIZE=${size}` : ''}`;
}

/** Sends DATA and everything but the final dot. @returns null when all of it was written, else how it ended */
export async function sendUpToDot(
  wire: MailWire,
  content: Uint8Array,
  progress: Progress,
  { dataMs, blockMs, contentMs }: TransactionTimeouts,
): Promise<TransactionEnd | null> {
  progress.at = { step: 'DATA' };
  const data = await wire.command('DATA', dataMs);
  if (data.code !== 354) return notAsAsked(progress.at, data);
  progress.at = { step: 'CONTENT' };
  const endsAtMs = performance.now() + contentMs;
  for (const block of stuffDots(content)) {
    const leftMs = Math.max(1, Math.ceil(endsAtMs - performance.now()));
    await wire.send(block, Math.min(blockMs, leftMs));
    // An early reply: the server takes no more.
    if (wire.hasUnread) return notAsAsked(progress.at, await wire.nextReply(blockMs));
  }
  return null;
}

/** Sends the final dot and waits for its reply. */
export async function sendDot(
  wire: MailWire,
  progress: Progress,
  { blockMs, verdictMs }: TransactionTimeouts,
): Promise<TransactionEnd> {
  progress.at = { step: 'DOT' };
  progress.hasDotLeft = true;
  await wire.send(FINAL_DOT, blockMs);
  const verdict = await wire.nextReply(verdictMs);
  return isOfClass(verdict, 2) ? { end: 'accepted', reply: verdict } : notAsAsked(progress.at, verdict);
}

export function notAsAsked(at: Place, reply: ServerReply): TransactionEnd {
  return { end: isOfClass(reply, 4) || isOfClass(reply, 5) ? 'refused' : 'confused', at, reply };
}

export function isOfClass(reply: ServerReply, first: 2 | 4 | 5): boolean {
  return Math.floor(reply.code / 100) === first;
}

/** Can the session carry another message? */
export function canGoOn(end: TransactionEnd): boolean {
  if (end.end === 'refused') return end.at.step !== 'CONTENT' && end.reply.code !== 421;
  return end.end === 'accepted' || end.end === 'oversize';
}

/** Had the server closed the session before MAIL? It was lost before the reply to MAIL, or the reply was 421. */
export function wasDead(end: TransactionEnd): boolean {
  if (end.end === 'lost') return end.at.step === 'MAIL' && end.reason !== 'stopped';
  return end.end === 'refused' && end.at.step === 'MAIL' && end.reply.code === 421;
}

/**
 * May the server have taken the message? Yes if an unexpected reply comes after the final dot, and also if a 2yz comes
 * during the content: that server has accepted something.
 */
export function mayHaveIt({ at, reply }: Extract<TransactionEnd, { end: 'confused' }>): boolean {
  return at.step === 'DOT' || (at.step === 'CONTENT' && reply.code < 300);
}

/** Names a recipient by its number, because addresses must not stand in logs; the record has them. */
export function describePlace({ step, recipient }: Place): string {
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
