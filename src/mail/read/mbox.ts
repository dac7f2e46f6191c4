import { type Line, Lines, quotesBefore } from '../lines.js';

const CRLF = Buffer.from('\r\n');
/** Lines are gathered up to this. */
const GATHER_BYTES = 32 * 1024;

/** What a source of messages says, in turn: each message begins, brings its bytes, and ends. */
export type EntryPart =
  /** The line that begins it in an mbox, without its end; null in a file of one message. */
  | { readonly kind: 'begin'; readonly separator: string | null }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'end' };

/**
 * Splits a file into its messages: an mbox (RFC 4155) if it begins with a separator, else one message. Line ends become
 * CRLF. A separator is a line that begins with `From `, has a year in it, and comes first or after an empty line; of lines
 * that begin with `>From ` or `>>From ` one `>` is taken away (mboxrd). Memory is bounded whatever the file holds.
 */
export async function* splitEntries(source: AsyncIterable<Uint8Array>): AsyncGenerator<EntryPart> {
  const lines = new Lines();
  const splitter = new Splitter();
  for await (const chunk of source) {
    for (const line of lines.take(chunk)) yield* splitter.take(line);
    yield* splitter.flush();
  }
  for (const line of lines.end()) yield* splitter.take(line);
  yield* splitter.end();
}

class Splitter {
  /** Null until the first line has come. */
  #isMbox: boolean | null = null;
  #isOpen = false;
  #isAfterEmpty = true;
  /** An empty line belongs to the message only if no separator follows it. */
  #isEmptyOwed = false;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;

  *take(line: Line): Generator<EntryPart> {
    const isSeparator =
      line.isStart && this.#isAfterEmpty && this.#isMbox !== false && isSeparatorLine(line.bytes);
    this.#isMbox ??= isSeparator;
    if (isSeparator || !this.#isOpen) {
      yield* this.end();
      const separator = isSeparator ? line.bytes.subarray(0, 500).toString('latin1').trimEnd() : null;
      yield { kind: 'begin', separator };
      this.#isOpen = true;
      this.#isAfterEmpty = false;
      this.#isEmptyOwed = false;
      if (isSeparator) return;
    }
    if (this.#isEmptyOwed) this.#gather(CRLF);
    this.#isEmptyOwed = false;
    this.#isAfterEmpty = line.isStart && line.isEnd && line.bytes.length === 0;
    if (this.#isAfterEmpty && this.#isMbox) {
      this.#isEmptyOwed = true;
      return;
    }
    const isOurs = this.#isMbox && line.isStart && (quotesBefore(line.bytes) ?? 0) > 0;
    this.#gather(Buffer.from(isOurs ? line.bytes.subarray(1) : line.bytes));
    if (line.isEnd) this.#gather(CRLF);
    if (this.#gatheredBytes >= GATHER_BYTES) yield* this.flush();
  }

  *flush(): Generator<EntryPart> {
    if (this.#gatheredBytes > 0) yield { kind: 'bytes', bytes: Buffer.concat(this.#gathered) };
    this.#gathered = [];
    this.#gatheredBytes = 0;
  }

  *end(): Generator<EntryPart> {
    yield* this.flush();
    if (this.#isOpen) yield { kind: 'end' };
    this.#isOpen = false;
  }

  #gather(bytes: Buffer): void {
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
  }
}

/** `From `, an address and a date with a year in it: other lines of a text may begin with that word, too. */
function isSeparatorLine(line: Buffer): boolean {
  if (quotesBefore(line) !== 0) return false;
  return /^From .*\b(?:19|20)\d\d\b/.test(line.subarray(0, 500).toString('latin1'));
}
