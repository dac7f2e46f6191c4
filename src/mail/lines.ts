import { asBuffer, BYTE } from '../lib/bytes.js';

const { CR, LF } = BYTE;
const GREATER = 0x3e;
const FROM = Buffer.from('From ');

/**
 * What has come of a line without its end is handed over in pieces of this: nothing says how long a line is. One that
 * ends in the chunk that it begins in comes whole.
 */
const PIECE_BYTES = 64 * 1024;

/** A line without its end, or a piece of a long one. */
export interface Line {
  readonly bytes: Buffer;
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

/** Splits bytes into lines as they come, at LF or CRLF. */
export class Lines {
  #rest: Buffer = Buffer.alloc(0);
  #isStart = true;

  /** The lines that these bytes complete. The buffers are good until the next call. */
  *take(chunk: Uint8Array): Generator<Line> {
    const next = asBuffer(chunk);
    const data = this.#rest.length === 0 ? next : Buffer.concat([this.#rest, next]);
    let from = 0;
    for (let end = data.indexOf(LF); end >= 0; end = data.indexOf(LF, from)) {
      const isCrlf = end > from && data[end - 1] === CR;
      yield { bytes: data.subarray(from, isCrlf ? end - 1 : end), isStart: this.#isStart, isEnd: true };
      this.#isStart = true;
      from = end + 1;
    }
    // A CR at the end of a piece may belong to the end of the line.
    while (data.length - from > PIECE_BYTES) {
      yield { bytes: data.subarray(from, from + PIECE_BYTES - 1), isStart: this.#isStart, isEnd: false };
      this.#isStart = false;
      from += PIECE_BYTES - 1;
    }
    this.#rest = Buffer.from(data.subarray(from));
  }

  /** The last line, if it has no end. */
  *end(): Generator<Line> {
    if (this.#rest.length > 0) yield { bytes: this.#rest, isStart: this.#isStart, isEnd: true };
    this.#rest = Buffer.alloc(0);
  }
}

/** How many `>` stand before the `From ` that a line begins with (mboxrd); null when it does not begin so. */
export function quotesBefore(line: Buffer): number | null {
  let at = 0;
  while (line[at] === GREATER) at++;
  return line.subarray(at, at + FROM.length).equals(FROM) ? at : null;
}
