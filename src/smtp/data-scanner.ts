import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { BYTE } from '../lib/bytes.js';

/**
 * Finds the end of DATA (RFC 5321 section 4.1.1.4) and takes the transparency dots out (section 4.5.2).
 *
 * CR and LF may only stand together (section 2.3.8), and NUL not at all: receivers that were lenient here
 * are how one message is made to look like two to the next hop (CVE-2023-51764 and its kin). Because a
 * CR without its LF is refused, no byte ever has to be held back: the whole memory between two chunks is
 * where in a line the first one stopped.
 */

export type LineFault = 'bare_cr' | 'bare_lf' | 'nul';

export type Scan =
  /** All of the chunk belongs to the message. */
  | { readonly status: 'more'; readonly content: Buffer }
  /** The message ends in this chunk; `rest` is what the client sent behind it. */
  | { readonly status: 'end'; readonly content: Buffer; readonly rest: Buffer }
  | { readonly status: 'fault'; readonly fault: LineFault };

const { NUL, LF, CR, DOT } = BYTE;

// Where in a line the bytes so far have stopped. Numbers, because the scanner lives on comparing them.
const LINE_START = 0;
const IN_LINE = 1;
const AFTER_CR = 2;
/** Behind a dot that began a line. The dot itself is gone, whatever follows. */
const AFTER_DOT = 3;
const AFTER_DOT_CR = 4;

/**
 * Two native searches for a line end cost about as much as a look at this many bytes one by one. Only
 * hostile input (megabytes of `..` lines) has lines so short, but it must not cost more than the rest.
 */
const SHORT_LINE = 24;

export class DataScanner {
  #at = LINE_START;

  /**
   * Takes the next bytes from the network. `content` is a view of `chunk`, which is rewritten in place
   * where dots had to go: the caller gives `chunk` up. After `end` or `fault` nothing more is taken.
   */
  feed(chunk: Buffer): Scan {
    const length = chunk.length;
    const nul = chunk.indexOf(NUL);
    let at = this.#at;
    let pos = 0;
    /** Content that is in its place at the front of the chunk, and where the run behind it begins. */
    let kept = 0;
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
        // The end. NUL behind it is no part of the message but a bad command.
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

/** Where the CR of the line around `from` stands, the chunk's length when there is none, -1 at a bare LF. */
function findLineEnd(chunk: Buffer, from: number): number {
  const cr = chunk.indexOf(CR, from);
  const lf = chunk.indexOf(LF, from);
  if (lf >= 0 && (cr < 0 || lf < cr)) return -1;
  return cr < 0 ? chunk.length : cr;
}

/**
 * Takes the dots out of whole short lines from the start of a line on, moving every byte down to `kept`.
 * Stops in front of the first thing it does not know: a long line, a line end or an end of DATA that may
 * go on in the next chunk, a fault.
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

/** Moves the bytes of [from, to) down to `kept`; returns where they end. */
function moveRun(chunk: Buffer, kept: number, from: number, to: number): number {
  if (kept !== from) chunk.copyWithin(kept, from, to);
  return kept + to - from;
}

type Next = (error?: Error | null) => void;

/**
 * Takes a chunk of what follows DATA; the chunk is given up to it. Calls, at once or later, either `goOn`
 * when the next chunk may come, or `end` with what was sent behind the final dot.
 */
export type DataReceiver = (chunk: Buffer, goOn: () => void, end: (rest: Buffer) => void) => void;

/**
 * The library's parser with its DATA path replaced: commands are read as ever, but between
 * `receiveData` and `resumeCommands` chunks go straight to a receiver, without a stream in between, and
 * node stops reading from the socket for as long as the receiver keeps its answer back.
 */
export class MailStream extends SMTPStream {
  #receiver: DataReceiver | null = null;
  #resume: (() => void) | null = null;

  /** From here on everything is message, the rest of the chunk that held DATA included. */
  receiveData(receiver: DataReceiver): void {
    this.#receiver = receiver;
    this._dataMode = true;
  }

  /** The reply to the final dot has been given: reads on where the message ended. */
  resumeCommands(): void {
    const resume = this.#resume;
    this.#resume = null;
    resume?.();
  }

  /** What stands behind the last CRLF when the client ends its side is no command. */
  override _flushData(): void {}

  /**
   * The error that this becomes is told a tick later, and node hands over what is buffered all the same:
   * the rest of the line would be taken for a command, and those behind it would run.
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
