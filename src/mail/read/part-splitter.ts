import { BYTE } from '../../lib/bytes.js';
import { HeaderFields } from './header-fields.js';
import type { ParseLimits } from './limits.js';
import { type Delimiter, type MultipartForm, OpenMultiparts, type PartPlace } from './open-multiparts.js';

const { LF, CR } = BYTE;

/**
 * A line that may be a delimiter is held until its end arrives; a longer line is not one. Boundaries have at most 70
 * characters (RFC 2046 section 5.1.1), but real ones are longer, and white space may follow them.
 */
const LONGEST_DELIMITER = 2_048;

/** Gets what the splitter finds, in the order of the message. */
export interface PartHandler {
  /** The header of a part is complete. Returns its form when it is a multipart; after null, its body follows. */
  onHeader(fields: HeaderFields, place: PartPlace): MultipartForm | null;
  /** More of the body of the last part: a view of the pushed chunk, valid only during the call. */
  onBody(bytes: Buffer): void;
  /** The last part is complete. */
  onEnd(): void;
}

/** What the current bytes belong to. `outside` is preamble, epilogue, and what a limit leaves out. */
type Region = 'header' | 'body' | 'outside';

/**
 * Splits a message into its MIME parts (RFC 2046 section 5.1) as its bytes arrive. It takes linear time, and of a
 * body it holds back no more than a line that may be a delimiter.
 */
export class PartSplitter {
  readonly #handler: PartHandler;
  readonly #limits: ParseLimits;
  readonly #multiparts = new OpenMultiparts();
  #region: Region = 'header';
  #fields: HeaderFields;
  /** The end of the last chunk, when its meaning depends on the next bytes. */
  #held: Buffer | null = null;
  /** In a header: the current line began in an earlier chunk. */
  #isMidLine = false;
  /** In a body: the current position begins a line, and the line end before it is not part of the body. */
  #isLineStart = false;
  #parts = 1;
  #isDone = false;

  constructor(handler: PartHandler, limits: ParseLimits) {
    this.#handler = handler;
    this.#limits = limits;
    this.#fields = new HeaderFields('message', limits);
  }

  /** True when the message has ended: later bytes are ignored. */
  get isDone(): boolean {
    return this.#isDone;
  }

  push(chunk: Buffer): void {
    const held = this.#held;
    this.#held = null;
    this.#scan(held === null ? chunk : Buffer.concat([held, chunk]), false);
  }

  end(): void {
    const held = this.#held ?? Buffer.alloc(0);
    this.#held = null;
    this.#scan(held, true);
    if (this.#region === 'header' && !this.#isDone) this.#endHeader();
    this.#endBody();
    this.#isDone = true;
  }

  #scan(data: Buffer, isFinal: boolean): void {
    let position = 0;
    while (position < data.length && !this.#isDone) {
      position =
        this.#region === 'header'
          ? this.#scanHeader(data, position, isFinal)
          : this.#scanBody(data, position, isFinal);
    }
  }

  /** Reads header lines from `from` on; returns the position after the last line that was used. */
  #scanHeader(data: Buffer, from: number, isFinal: boolean): number {
    let start = from;
    while (start < data.length) {
      const lineFeed = data.indexOf(LF, start);
      if (lineFeed < 0 && !isFinal) return this.#holdHeaderLine(data, start);
      const next = lineFeed < 0 ? data.length : lineFeed + 1;
      let end = lineFeed < 0 ? data.length : lineFeed;
      while (end > start && data[end - 1] === CR) end--;
      if (this.#isMidLine) {
        this.#fields.continueLine(data, start, end);
        this.#isMidLine = false;
      } else if (end === start) {
        this.#endHeader();
        return next;
      } else {
        const delimiter = this.#multiparts.match(data, start, end);
        if (delimiter !== null) {
          // The part has a header and no body.
          this.#endHeader();
          this.#enter(delimiter, lineFeed < 0);
          return next;
        }
        this.#fields.addLine(data, start, end);
      }
      start = next;
    }
    return start;
  }

  /** The line at `start` is incomplete: it is held, or used as far as it has come when it is too long for that. */
  #holdHeaderLine(data: Buffer, start: number): number {
    if (this.#isMidLine) {
      this.#fields.continueLine(data, start, data.length);
    } else if (data.length - start > LONGEST_DELIMITER) {
      this.#fields.addLine(data, start, data.length);
      this.#isMidLine = true;
    } else {
      this.#held = Buffer.from(data.subarray(start));
    }
    return data.length;
  }

  #endHeader(): void {
    const form = this.#handler.onHeader(this.#fields, this.#multiparts.place);
    this.#isLineStart = true;
    if (form === null) {
      this.#region = 'body';
    } else {
      this.#region = 'outside';
      this.#multiparts.open(form);
    }
  }

  /** Passes on the body from `from` to the next delimiter; returns the position after that. */
  #scanBody(data: Buffer, from: number, isFinal: boolean): number {
    if (this.#multiparts.isEmpty) {
      this.#emit(data, from, data.length);
      return data.length;
    }
    let search = from;
    for (;;) {
      const lineStart = this.#isLineStart ? from : lineStartBeforeDashes(data, search);
      if (lineStart < 0) break;
      const lineFeed = data.indexOf(LF, lineStart);
      if (lineFeed < 0 && !isFinal && data.length - lineStart <= LONGEST_DELIMITER) {
        // The line end before a delimiter belongs to the delimiter (RFC 2046 section 5.1.1), so it is held too.
        return this.#holdBody(data, from, beforeLineEnd(data, from, lineStart));
      }
      this.#isLineStart = false;
      const end = lineFeed < 0 ? data.length : lineFeed;
      const delimiter = this.#multiparts.match(data, lineStart, end);
      if (delimiter !== null) {
        this.#emit(data, from, beforeLineEnd(data, from, lineStart));
        this.#enter(delimiter, lineFeed < 0);
        return end + 1;
      }
      search = lineStart;
    }
    if (isFinal) {
      this.#emit(data, from, data.length);
      return data.length;
    }
    return this.#holdBody(data, from, data.length - possibleDelimiterTail(data, from));
  }

  /** Passes on `data[from, end)` and keeps the rest for the next chunk. */
  #holdBody(data: Buffer, from: number, end: number): number {
    this.#emit(data, from, end);
    this.#held = end < data.length ? Buffer.from(data.subarray(end)) : null;
    return data.length;
  }

  #emit(data: Buffer, start: number, end: number): void {
    if (this.#region === 'body' && end > start) this.#handler.onBody(data.subarray(start, end));
  }

  /** After a delimiter: ends the part before it, and begins the next one unless the multipart or the message ends. */
  #enter(delimiter: Delimiter, isAtEnd: boolean): void {
    this.#endBody();
    this.#multiparts.apply(delimiter);
    this.#region = 'outside';
    this.#isLineStart = true;
    if (delimiter.isClosing) {
      this.#isDone = this.#multiparts.isEmpty;
    } else if (isAtEnd || this.#parts >= this.#limits.parts) {
      this.#isDone = true;
    } else {
      this.#parts++;
      this.#region = 'header';
      this.#fields = new HeaderFields('part', this.#limits);
    }
  }

  #endBody(): void {
    if (this.#region === 'body') this.#handler.onEnd();
    this.#region = 'outside';
  }
}

/** The beginning of the first line after `from` that begins with `--`, or -1. */
function lineStartBeforeDashes(data: Buffer, from: number): number {
  const lineEnd = data.indexOf('\n--', from, 'latin1');
  return lineEnd < 0 ? -1 : lineEnd + 1;
}

/** The position before the line end that precedes `lineStart`, but never before `from`. */
function beforeLineEnd(data: Buffer, from: number, lineStart: number): number {
  let end = lineStart;
  if (end > from && data[end - 1] === LF) end--;
  if (end < lineStart && end > from && data[end - 1] === CR) end--;
  return end;
}

/** Number of last bytes that may begin a delimiter: CR, LF or LF and `-`, with a CR before. */
function possibleDelimiterTail(data: Buffer, from: number): number {
  const text = data.toString('latin1', Math.max(from, data.length - 3));
  return /\r?\n-?$|\r$/.exec(text)?.[0].length ?? 0;
}
