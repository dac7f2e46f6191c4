import { asBuffer, BYTE } from '../../lib/bytes.js';
import type { RelayAttempt } from '../../usecases/ports.js';
import type { SmarthostTimeouts } from './options.js';
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

type Limits = Pick<SmarthostTimeouts, 'commandMs' | 'dataMs' | 'blockMs' | 'contentMs' | 'verdictMs'>;

export interface TransactionOptions extends Limits {
  /** For the reply to MAIL, which shows whether a session that was used before is still open. */
  readonly mailMs: number;
}

/**
 * Runs one mail transaction (RFC 5321 section 3.3) and retries nothing. Commands are sent one at a time. DATA is sent
 * only if every recipient was accepted, so that one refused recipient refuses the whole message.
 *
 * The final dot is written to the socket only when everything before it has been written to the network. If the
 * session is lost before that, the server cannot have the end of the message and does not act on it (section 4.1.1.4).
 * If it is lost afterwards, the server may have the message. Nothing else decides what a loss means.
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

/** Sends everything but the final dot. Stops at an early reply and returns it, else returns null. */
async function sendContent(wire: MailWire, content: Uint8Array, limits: Limits): Promise<ServerReply | null> {
  const endsAtMs = performance.now() + limits.contentMs;
  for (const block of stuffDots(content)) {
    const leftMs = Math.max(1, Math.ceil(endsAtMs - performance.now()));
    await wire.send(block, Math.min(limits.blockMs, leftMs));
    if (wire.hasUnread) return wire.nextReply(limits.blockMs);
  }
  return null;
}

function notAsAsked(at: Place, reply: ServerReply): TransactionEnd {
  return { end: isOfClass(reply, 4) || isOfClass(reply, 5) ? 'refused' : 'confused', at, reply };
}

function isOfClass(reply: ServerReply, first: 2 | 4 | 5): boolean {
  return Math.floor(reply.code / 100) === first;
}

const { LF, DOT } = BYTE;
const LF_DOT = '\n.';

/** Small enough that dot-stuffing a block does not block the event loop, large enough to need few writes. */
export const BLOCK_BYTES = 65_536;

/** Ends a message whose last line has its CRLF (RFC 5321 section 4.1.1.4). */
export const FINAL_DOT = Buffer.from('.\r\n');

/**
 * The message as it is sent, in blocks and without the final dot: a dot at the start of a line is doubled (RFC 5321
 * section 4.5.2). `content` must have CRLF line ends only, also after its last line.
 */
export function* stuffDots(content: Uint8Array): Generator<Uint8Array> {
  const bytes = asBuffer(content);
  let isLineStart = true;
  for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
    const block = bytes.subarray(from, from + BLOCK_BYTES);
    yield stuffBlock(block, isLineStart);
    isLineStart = block.at(-1) === LF;
  }
}

function stuffBlock(block: Buffer, startsLine: boolean): Uint8Array {
  const startsWithDot = startsLine && block[0] === DOT;
  if (!startsWithDot && !block.includes(LF_DOT)) return block;
  const text = block.toString('latin1').replaceAll(LF_DOT, `${LF_DOT}.`);
  return Buffer.from(startsWithDot ? `.${text}` : text, 'latin1');
}

/** Adds the CRLF that must stand before the final dot if it is missing. */
export function withFinalLineEnd(content: Uint8Array): Uint8Array {
  return content.at(-1) === LF ? content : Buffer.concat([content, Buffer.from('\r\n')]);
}
