import { createHash } from 'node:crypto';
import { BYTE } from '../../lib/bytes.js';
import { piecesOf } from './encode-text.js';

const { LF } = BYTE;

/**
 * SHA-256 of a body in the "relaxed" form (RFC 6376 section 3.4.4), in base64. It yields between steps. The library's
 * own hash does not, and keeps every line of blanks until text follows: 1.7 million of them in an attached message of
 * 5 MiB.
 * @param body lines that end in CRLF; the last one may have no end
 * @throws Error for a line that no message may have (RFC 5322 section 2.1.1)
 */
export function* hashBody(body: Buffer): Generator<void, string> {
  const hash = createHash('sha256');
  let isEmpty = true;
  /** Line ends that count only when text follows. */
  let lineEnds = 0;
  for (const piece of piecesOf(body)) {
    const isLast = piece.byteOffset + piece.length === body.byteOffset + body.length;
    if (!isLast && piece.at(-1) !== LF) throw new Error('a line that no message may have');
    const lines = relaxed(piece.toString('latin1'));
    const end = endOfText(lines);
    if (end > 0) {
      for (; lineEnds > 0; lineEnds -= LINE_ENDS_AT_ONCE) {
        hash.update('\r\n'.repeat(Math.min(lineEnds, LINE_ENDS_AT_ONCE)));
        yield;
      }
      hash.update(lines.slice(0, end), 'latin1');
      lineEnds = 0;
      isEmpty = false;
    }
    lineEnds += (lines.length - end) / 2;
    yield;
  }
  // Of the line ends at the end of the body one counts, and it is added where there is none.
  if (!isEmpty) hash.update('\r\n');
  return hash.digest('base64');
}

const LINE_ENDS_AT_ONCE = 32 * 1024;

/** White space that the form changes. Nearly all text has none. */
const CHANGED = /[ \t][ \t\r]|\t/;

/** Runs of white space become a space, and the one before a line end or at the very end goes. */
function relaxed(lines: string): string {
  const changed = CHANGED.test(lines) ? lines.replace(/[ \t]+/g, ' ').replaceAll(' \r\n', '\r\n') : lines;
  return changed.endsWith(' ') ? changed.slice(0, -1) : changed;
}

/** Where the line ends begin that the text ends with. */
function endOfText(lines: string): number {
  let end = lines.length;
  while (lines.endsWith('\r\n', end)) end -= 2;
  return end;
}
