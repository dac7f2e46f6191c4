const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const NAME = 'received';

/** Not at the start of a header line that may yet turn out to be a Received line. */
const NO_MATCH = -1;

/**
 * Counts the Received lines of a header as it passes (RFC 5321 section 6.3: a hundred of them are a loop).
 * Feed it the content of the message in any cuts; lines end in CRLF. The body is not looked at.
 */
export class ReceivedCounter {
  #count = 0;
  #isHeader = true;
  /** How many letters of the field name this line has matched, or NO_MATCH. */
  #matched = 0;

  get count(): number {
    return this.#count;
  }

  feed(content: Buffer): void {
    let pos = 0;
    while (this.#isHeader && pos < content.length) {
      if (this.#matched === NO_MATCH) {
        const lf = findLf(content, pos);
        if (lf < 0) return;
        pos = lf + 1;
        this.#matched = 0;
      } else {
        this.#step(content[pos] ?? LF);
        pos += 1;
      }
    }
  }

  #step(byte: number): void {
    if (this.#matched === NAME.length) {
      // Obsolete syntax allows white space before the colon (RFC 5322 section 4.5).
      if (byte === 0x20 || byte === 0x09) return;
      if (byte === COLON) this.#count += 1;
      this.#matched = NO_MATCH;
    } else if ((byte | 0x20) === NAME.charCodeAt(this.#matched)) {
      this.#matched += 1;
    } else {
      // An empty line ends the header.
      if (this.#matched === 0 && byte === CR) this.#isHeader = false;
      this.#matched = NO_MATCH;
    }
  }
}

/** Megabytes of short lines without an empty one are all header; a native search for each would tell. */
function findLf(content: Buffer, from: number): number {
  const stop = Math.min(from + 8, content.length);
  for (let pos = from; pos < stop; pos++) if (content[pos] === LF) return pos;
  return content.indexOf(LF, stop);
}
