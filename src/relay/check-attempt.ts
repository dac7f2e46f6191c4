import { isAscii } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { isEmailAddress } from '../domain/email-address.js';
import type { RelayAttempt, RelayOutcome } from '../usecases/ports.js';
import { rejected } from './transaction-outcome.js';

/** RFC 5321 section 4.5.3.1.6, RFC 5322 section 2.1.1: 1,000 octets with the CRLF. */
const MAX_LINE = 998;
/** Looked through between two turns of the loop. */
const PIECE_BYTES = 1024 * 1024;
const NUL = 0x00;
const LF = 0x0a;
const CR = 0x0d;

/**
 * What must hold of everything that leaves, looked at once more where it leaves: addresses of our grammar,
 * which need no rewriting and leave no room for a second command, and a 7-bit message with whole line ends.
 * The outcome that refuses it, or null.
 */
export async function checkAttempt({ envelope, content }: RelayAttempt): Promise<RelayOutcome | null> {
  if (envelope.from !== '' && !isEmailAddress(envelope.from)) {
    return rejected('E_SENDER_REJECTED', 'the sender is not a bare ASCII address; nothing was sent');
  }
  if (envelope.recipients.length === 0) {
    return rejected('E_RECIPIENT_REJECTED', 'there are no recipients; nothing was sent');
  }
  const wrong = envelope.recipients.findIndex(recipient => !isEmailAddress(recipient));
  if (wrong >= 0) {
    const detail = `recipient ${wrong + 1} is not a bare ASCII address; nothing was sent`;
    return rejected('E_RECIPIENT_REJECTED', detail);
  }
  const fault = await contentFault(content);
  return fault === null ? null : rejected('E_MESSAGE_REJECTED', `${fault}; nothing was sent`);
}

async function contentFault(content: Uint8Array): Promise<string | null> {
  if (content.length === 0) return 'the message is empty';
  let length = 0;
  let before = 0;
  for (let from = 0; from < content.length; from += PIECE_BYTES) {
    if (from > 0) await setImmediate();
    const piece = content.subarray(from, from + PIECE_BYTES);
    if (!isAscii(piece)) return 'the message has bytes beyond 7 bits';
    if (piece.includes(NUL)) return 'the message has a NUL';
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] ?? NUL;
      if ((byte === LF) !== (before === CR)) return 'the message has a bare CR or a bare LF';
      length = byte === LF ? 0 : length + 1;
      // The CR counts as a character of the line until its LF comes.
      if (length > MAX_LINE && !(byte === CR && length === MAX_LINE + 1)) {
        return `the message has a line of more than ${MAX_LINE} octets`;
      }
      before = byte;
    }
  }
  return before === CR ? 'the message has a bare CR or a bare LF' : null;
}
