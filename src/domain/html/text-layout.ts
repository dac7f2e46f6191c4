import { BYTE } from '../../lib/bytes.js';

const { TAB, LF, CR, SPACE, DELETE } = BYTE;
const FORM_FEED = 0x0c;
const NO_BREAK_SPACE = 0xa0;

/**
 * Lays out words and lines as plain text. A separator (space, line break, blank line, list mark) is only written when
 * more text follows, so separators never pile up. Controls are dropped, no-break spaces become spaces, and no line
 * ends in a space.
 */
export class TextLayout {
  /** The text in UTF-16. A string that grows by single characters would take many times as long. */
  readonly #units: Uint16Array;
  #length = 0;
  #lineStart = 0;
  #isSpaceDue = false;
  #breaksDue = 0;
  #mark = '';

  /** @param maxLength UTF-16 units that are kept; the rest is dropped */
  constructor(maxLength: number) {
    this.#units = new Uint16Array(maxLength);
  }

  /** Puts at least this many line breaks before the next text. */
  separate(breaks: 1 | 2): void {
    if (this.#mark === '') this.#breaksDue = Math.max(this.#breaksDue, breaks);
  }

  /** Adds a line break before the next text; two make a blank line, and more count as two. */
  breakLine(): void {
    if (this.#mark === '') this.#breaksDue = Math.min(2, this.#breaksDue + 1);
  }

  addSpace(): void {
    this.#isSpaceDue = true;
  }

  /** Puts a mark, such as `- `, directly before the next text. */
  mark(mark: string): void {
    this.#mark = mark;
  }

  /** Adds text in which each run of white space is one space. */
  addWords(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === SPACE || (unit <= CR && isWhiteSpace(unit))) this.#isSpaceDue = true;
      else this.#add(unit);
    }
  }

  /** Adds text that keeps its white space. */
  addLines(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === LF) this.breakLine();
      else this.#add(unit);
    }
  }

  text(): string {
    this.#endLine();
    // An empty last line leaves the line end before it.
    while (this.#units[this.#length - 1] === LF) this.#length--;
    const { buffer, byteOffset } = this.#units;
    return Buffer.from(buffer, byteOffset, this.#length * 2).toString('utf16le');
  }

  #add(unit: number): void {
    if (isControl(unit)) return;
    if (this.#breaksDue > 0) this.#break();
    if (this.#isSpaceDue) {
      this.#isSpaceDue = false;
      if (this.#length > this.#lineStart) this.#put(SPACE);
    }
    if (this.#mark !== '') {
      for (let i = 0; i < this.#mark.length; i++) this.#put(this.#mark.charCodeAt(i));
      this.#mark = '';
    }
    this.#put(unit === NO_BREAK_SPACE ? SPACE : unit);
  }

  /** Ends the line. There is no blank line at the beginning, and never more than one in a row. */
  #break(): void {
    this.#endLine();
    const isBlankDue = this.#breaksDue > 1;
    this.#breaksDue = 0;
    if (this.#length === 0) return;
    const units = this.#units;
    let breaks = 0;
    while (units[this.#length - 1 - breaks] === LF) breaks++;
    for (const wanted = isBlankDue ? 2 : 1; breaks < wanted; breaks++) this.#put(LF);
    this.#lineStart = this.#length;
  }

  /** Removes the white space at the end of the line. */
  #endLine(): void {
    const units = this.#units;
    while (this.#length > this.#lineStart && isBlank(units[this.#length - 1])) this.#length--;
  }

  #put(unit: number): void {
    this.#units[this.#length++] = unit;
  }
}

function isWhiteSpace(unit: number): boolean {
  return unit === TAB || unit === LF || unit === FORM_FEED || unit === CR;
}

function isControl(unit: number): boolean {
  return (unit < SPACE && unit !== TAB) || (unit >= DELETE && unit < NO_BREAK_SPACE);
}

function isBlank(unit: number | undefined): boolean {
  return unit === SPACE || unit === TAB;
}
