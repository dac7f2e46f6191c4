import { BYTE } from '../../lib/bytes.js';

const { TAB, LF, CR, SPACE, DELETE } = BYTE;
const FORM_FEED = 0x0c;
const NO_BREAK_SPACE = 0xa0;

/**
 * Lays words and lines out as text. What separates two texts (a space, a line end, a blank line, the mark of
 * a list item) is remembered until the second one comes, so that none of it piles up. Controls are left out,
 * no-break spaces are spaces, no line ends in one.
 */
export class TextLayout {
  /** UTF-16 as it will be: strings that grow by single characters cost many times as much. */
  readonly #units: Uint16Array;
  #length = 0;
  #lineStart = 0;
  #isSpaceDue = false;
  #breaksDue = 0;
  #mark = '';

  /** @param maxLength the text never has more units of UTF-16; what is beyond is lost */
  constructor(maxLength: number) {
    this.#units = new Uint16Array(maxLength);
  }

  /** The next text begins behind so many line breaks at least. */
  separate(breaks: 1 | 2): void {
    if (this.#mark === '') this.#breaksDue = Math.max(this.#breaksDue, breaks);
  }

  /** One more line break; two of them make a blank line, of which one is enough. */
  breakLine(): void {
    if (this.#mark === '') this.#breaksDue = Math.min(2, this.#breaksDue + 1);
  }

  addSpace(): void {
    this.#isSpaceDue = true;
  }

  /** Stands before the next text, from which nothing separates it any more. */
  mark(mark: string): void {
    this.#mark = mark;
  }

  /** Text in which a run of white space is one space. */
  addWords(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === SPACE || (unit <= CR && isWhiteSpace(unit))) this.#isSpaceDue = true;
      else this.#add(unit);
    }
  }

  /** Text whose white space counts. */
  addLines(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === LF) this.breakLine();
      else this.#add(unit);
    }
  }

  text(): string {
    this.#endLine();
    // A line that came to nothing leaves the line end before it.
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

  /** Ends the line; a line or blank line after nothing, or after another blank line, is none. */
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

  /** Takes back the spaces that the line ends in; a line of nothing else is none, and neither is its line end. */
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
