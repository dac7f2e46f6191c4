/** A header value with parameters (RFC 2045 section 5.1), such as Content-Type; one character a byte (Latin-1). */
export interface StructuredHeader {
  /** The value before the first parameter, without comments and quotes; `""` when there is none. */
  readonly value: string;
  /** Raw values by attribute in lower case. Of several with one name, the first counts. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Splits a raw value in one pass. It accepts what senders get wrong: comments anywhere, unquoted values with spaces or
 * parentheses, a quote that is never closed, a missing semicolon before the first parameter, a parameter in place of
 * the main value.
 */
export function parseStructuredHeader(raw: string, maxParameters: number): StructuredHeader {
  const scanner = new SegmentScanner(raw);
  const parameters = new Map<string, string>();
  let { attribute, value } = scanner.next();
  if (attribute !== null) {
    // `text/plain charset=utf-8`, or `filename=a.pdf` alone.
    const words = attribute.split(/\s+/);
    parameters.set(words.at(-1) ?? '', value);
    value = words.length > 1 ? (words[0] ?? '') : '';
  }
  while (!scanner.isDone && parameters.size < maxParameters) {
    const segment = scanner.next();
    const name = segment.attribute;
    if (name !== null && !parameters.has(name)) parameters.set(name, segment.value);
  }
  return { value, parameters };
}

/** The text between two semicolons: `attribute=value`, or only a value. */
interface Segment {
  readonly attribute: string | null;
  readonly value: string;
}

class SegmentScanner {
  readonly #raw: string;
  #position = 0;
  /** Set once the end of a quote or comment was searched for in vain, so that it is not searched for again. */
  #hasOpenQuote = false;
  #hasOpenComment = false;

  constructor(raw: string) {
    this.#raw = raw;
  }

  get isDone(): boolean {
    return this.#position >= this.#raw.length;
  }

  next(): Segment {
    const raw = this.#raw;
    let attribute: string | null = null;
    let text = '';
    let isBlank = true;
    let isClosed = false;
    while (this.#position < raw.length) {
      const start = this.#position;
      const char = raw[start];
      if (char === ';') break;
      if (char === '=' && attribute === null) {
        attribute = text.trim().toLowerCase();
        text = '';
        isBlank = true;
        this.#position++;
      } else if (char === '"') {
        const quoted = this.#quoted();
        // Text between a quoted value and the semicolon is ignored.
        if (!isClosed) text = isBlank ? quoted : text + quoted;
        isBlank = false;
        isClosed = attribute !== null;
      } else if (char === '(' && this.#skipComment(attribute === null || isBlank)) {
        // The comment was skipped.
      } else {
        this.#position = nextSpecial(raw, start + 1);
        const plain = raw.slice(start, this.#position);
        if (!isClosed) text += plain;
        isBlank &&= /^\s*$/.test(plain);
      }
    }
    this.#position++;
    return { attribute, value: isClosed ? text : text.trim() };
  }

  /**
   * The quoted string at the position (RFC 5322 section 3.2.4). One that is never closed ends at the next semicolon.
   * Only the quoted pairs `\"` and `\\` are decoded: any other backslash comes from a Windows path that the sender did
   * not escape.
   */
  #quoted(): string {
    const start = this.#position + 1;
    let end = this.#hasOpenQuote ? this.#raw.length : start;
    while (end < this.#raw.length && this.#raw[end] !== '"') end += this.#raw[end] === '\\' ? 2 : 1;
    if (end < this.#raw.length) {
      this.#position = end + 1;
    } else {
      this.#hasOpenQuote = true;
      const semicolon = this.#raw.indexOf(';', start);
      end = semicolon < 0 ? this.#raw.length : semicolon;
      this.#position = end;
    }
    return this.#raw.slice(start, end).replace(/\\(["\\])/g, '$1');
  }

  /**
   * Skips the comment at the position (RFC 5322 section 3.2.2), if it is one. `file(1).txt` and `my file (1).txt` are
   * names, `b1 (one)` is a value and a comment. So once a value has begun, parentheses are a comment only after white
   * space and at the end of the segment.
   */
  #skipComment(isBeforeValue: boolean): boolean {
    const raw = this.#raw;
    const start = this.#position;
    const before = raw[start - 1];
    const isApart = isBeforeValue || before === ' ' || before === '\t';
    if (this.#hasOpenComment || !isApart) return false;
    let depth = 0;
    let end = start;
    for (; end < raw.length; end++) {
      if (raw[end] === '\\') end++;
      else if (raw[end] === '(') depth++;
      else if (raw[end] === ')' && --depth === 0) break;
    }
    if (end >= raw.length) {
      this.#hasOpenComment = true;
      return false;
    }
    let follower = end + 1;
    while (raw[follower] === ' ' || raw[follower] === '\t') follower++;
    const isLast = follower >= raw.length || raw[follower] === ';' || raw[follower] === '(';
    if (!isBeforeValue && !isLast) return false;
    this.#position = end + 1;
    return true;
  }
}

/** The next position at or after `from` that may be more than plain text. */
function nextSpecial(raw: string, from: number): number {
  let i = from;
  while (i < raw.length) {
    const char = raw[i];
    if (char === ';' || char === '=' || char === '"' || char === '(') break;
    i++;
  }
  return i;
}
