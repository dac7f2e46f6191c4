import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { BYTE } from '../lib/bytes.js';

/**
 * Finds the end of DATA (RFC 5321 section 4.1.1.4) and removes dot-stuffing (section 4.5.2).
 *
 * A bare CR, a bare LF (section 2.3.8) and NUL are refused: lenient receivers make SMTP smuggling possible, where one
 * message looks like two to the next hop (such as CVE-2023-51764). Because a bare CR is refused, no byte has to be
 * held back between two chunks; the scanner only remembers where in a line the last chunk ended.
 */

export type LineFault = 'bare_cr' | 'bare_lf' | 'nul';

export type Scan =
  /** All of the chunk belongs to the message. */
  | { readonly status: 'more'; readonly content: Buffer }
  /** The message ends in this chunk; `rest` is what the client sent after it. */
  | { readonly status: 'end'; readonly content: Buffer; readonly rest: Buffer }
  | { readonly status: 'fault'; readonly fault: LineFault };

const { NUL, LF, CR, DOT } = BYTE;

// Where in a line the bytes so far end. Numbers, because they are compared in the hot loop.
const LINE_START = 0;
const IN_LINE = 1;
const AFTER_CR = 2;
/** After a dot at the start of a line. The dot has been removed, whatever follows. */
const AFTER_DOT = 3;
const AFTER_DOT_CR = 4;

/**
 * For lines shorter than this, comparing bytes one by one is faster than two native searches for the line end. Only
 * hostile input has many such lines (megabytes of `..` lines), but it must not cost more time than other input.
 */
const SHORT_LINE = 24;

export class DataScanner {
  #at = LINE_START;

  /**
   * Takes the next bytes from the network. Overwrites `chunk`, where dots are removed, and returns a view of it as
   * `content`: the caller must not use `chunk` again. After `end` or `fault` it must not be called again.
   */
  feed(chunk: Buffer): Scan {
    const length = chunk.length;
    const nul = chunk.indexOf(NUL);
    let at = this.#at;
    let pos = 0;
    /** How many bytes of content have been moved to the front of the chunk. */
    let kept = 0;
    /** Where the content begins that has not been moved yet. */
    let from = 0;

    while (pos < length) {
      if (at === IN_LINE || (at === LINE_START && chunk[pos] !== DOT)) {
        const cr = findLineEnd(chunk, pos);
        if (cr < 0) return fault('bare_lf');
        const isShort = cr - pos < SHORT_LINE;
        at = cr < length ? AFTER_CR : IN_LINE;
        pos = cr + 1;
        if (isShort && at === AFTER_CR && chunk[pos] === LF) {
          kept = moveRun(chunk, kept, from, pos + 1);
          const walk = walkShortLines(chunk, pos + 1, kept);
          kept = walk.kept;
          at = walk.isLineStart ? LINE_START : IN_LINE;
          pos = walk.pos;
          from = pos;
        }
      } else if (at === AFTER_CR) {
        if (chunk[pos] !== LF) return fault('bare_cr');
        at = LINE_START;
        pos += 1;
      } else if (at === LINE_START) {
        kept = moveRun(chunk, kept, from, pos);
        at = AFTER_DOT;
        pos += 1;
        from = pos;
      } else if (at === AFTER_DOT) {
        at = chunk[pos] === CR ? AFTER_DOT_CR : IN_LINE;
        if (at === AFTER_DOT_CR) {
          pos += 1;
          from = pos;
        }
      } else {
        if (chunk[pos] !== LF) return fault('bare_cr');
        // A NUL after the end is not part of the message; it makes a bad command.
        if (nul >= 0 && nul < pos) return fault('nul');
        return { status: 'end', content: chunk.subarray(0, kept), rest: chunk.subarray(pos + 1) };
      }
    }
    if (nul >= 0) return fault('nul');
    this.#at = at;
    kept = moveRun(chunk, kept, from, length);
    return { status: 'more', content: chunk.subarray(0, kept) };
  }
}

function fault(kind: LineFault): Scan {
  return { status: 'fault', fault: kind };
}

/** The position of the next CR from `from` on; the chunk's length if there is none; -1 if a bare LF comes first. */
function findLineEnd(chunk: Buffer, from: number): number {
  const cr = chunk.indexOf(CR, from);
  const lf = chunk.indexOf(LF, from);
  if (lf >= 0 && (cr < 0 || lf < cr)) return -1;
  return cr < 0 ? chunk.length : cr;
}

/**
 * Removes dot-stuffing from short lines, beginning at the start of a line, and moves every byte down to `kept`. Stops
 * before anything that `feed` has to handle: a long line, a fault, the end of DATA, a line end that is not complete in
 * this chunk.
 */
function walkShortLines(
  chunk: Buffer,
  start: number,
  keptBefore: number,
): { pos: number; kept: number; isLineStart: boolean } {
  const last = chunk.length - 1;
  let pos = start;
  let kept = keptBefore;
  let lineStart = start;
  while (pos < last) {
    if (pos === lineStart && chunk[pos] === DOT) {
      if (chunk[pos + 1] === CR) break;
      pos += 1;
    }
    const byte = chunk[pos] as number;
    const after = chunk[pos + 1] as number;
    if (byte === LF || (byte === CR && after !== LF) || pos - lineStart > SHORT_LINE) break;
    chunk[kept++] = byte;
    pos += 1;
    if (byte === CR) {
      chunk[kept++] = LF;
      pos += 1;
      lineStart = pos;
    }
  }
  return { pos, kept, isLineStart: pos === lineStart };
}

/** Moves the bytes of [from, to) down to `kept`. Returns the position after them. */
function moveRun(chunk: Buffer, kept: number, from: number, to: number): number {
  if (kept !== from) chunk.copyWithin(kept, from, to);
  return kept + to - from;
}

type Next = (error?: Error | null) => void;

/**
 * Takes a chunk of the message and may overwrite it. Calls, at once or later, either `goOn` when the next chunk may
 * come, or `end` with what was sent after the final dot.
 */
export type DataReceiver = (chunk: Buffer, goOn: () => void, end: (rest: Buffer) => void) => void;

/**
 * The library's parser with another way for DATA. Commands are read as in the library. From `receiveData` to
 * `resumeCommands`, chunks go straight to a receiver without a stream in between, and node stops reading from the
 * socket until the receiver has called back.
 */
export class MailStream extends SMTPStream {
  #receiver: DataReceiver | null = null;
  #resume: (() => void) | null = null;

  /** From now on every byte belongs to the message, including the rest of the chunk with the DATA command. */
  receiveData(receiver: DataReceiver): void {
    this.#receiver = receiver;
    this._dataMode = true;
  }

  /** To be called when the final dot has been answered: reads commands again, from the end of the message on. */
  resumeCommands(): void {
    const resume = this.#resume;
    this.#resume = null;
    resume?.();
  }

  /** An incomplete line at the end of the connection is not a command. */
  override _flushData(): void {}

  /**
   * The library emits the error one tick later, and until then node hands over what is buffered: the rest of the line
   * would be taken for a command, and the commands after it would run. So the parser is closed at once.
   */
  override _commandTooLong(): Error {
    this.isClosed = true;
    return super._commandTooLong();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding | 'buffer', next: Next): void {
    const receiver = this.#receiver;
    if (receiver === null || this.isClosed) {
      super._write(chunk, encoding, next);
      return;
    }
    receiver(chunk, next, rest => {
      this.#receiver = null;
      this._dataMode = false;
      this.#resume = () => this._write(rest, 'buffer', next);
    });
  }
}
