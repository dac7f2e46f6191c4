import { findEncodedWords } from './encoded-words.js';

/** A piece of an address header (RFC 5322 section 3.2). */
export interface AddressToken {
  readonly kind: 'word' | 'quoted' | 'literal' | 'comment' | 'special';
  /** Without quotes, quoted pairs resolved, comments without their parentheses. */
  readonly text: string;
  /** White space or a comment stands before it. */
  readonly isApart: boolean;
}

/**
 * Splits the characters of an address header into tokens, in one pass. A quote, comment or bracket that is
 * never closed is passed over, so that what follows is read as if it were not there. An encoded word is one
 * token whatever its characters: a colon in it opens no group.
 */
export function tokenizeAddresses(text: string, maxEncodedWords: number): readonly AddressToken[] {
  const scanner = new AddressScanner(text, maxEncodedWords);
  const tokens: AddressToken[] = [];
  for (let token = scanner.next(); token !== null; token = scanner.next()) tokens.push(token);
  return tokens;
}

const closers = { '"': '"', '(': ')', '[': ']' } as const;
type Opener = keyof typeof closers;
const kindOfOpener = { '"': 'quoted', '(': 'comment', '[': 'literal' } as const;

const specials = '<>,;:@';
const endsWord = /[\s<>,;:@"([]/;

class AddressScanner {
  readonly #text: string;
  /** Ends of encoded words by their beginnings. */
  readonly #encodedWords = new Map<number, number>();
  /** Openers that turned out to have no end, so that none is looked for again. */
  readonly #unclosed = new Set<Opener>();
  #position = 0;
  #isAfterComment = false;

  constructor(text: string, maxEncodedWords: number) {
    this.#text = text;
    for (const { start, end } of findEncodedWords(text, maxEncodedWords)) {
      if (!/[\s<>]/.test(text.slice(start, end))) this.#encodedWords.set(start, end);
    }
  }

  next(): AddressToken | null {
    const text = this.#text;
    let isApart = this.#isAfterComment;
    this.#isAfterComment = false;
    for (;;) {
      const char = text[this.#position];
      if (char === undefined) return null;
      if (/\s/.test(char)) {
        isApart = true;
        this.#position++;
      } else if (isOpener(char)) {
        const content = this.#enclosed(char);
        this.#isAfterComment = char === '(' && content !== null;
        if (content !== null) return { kind: kindOfOpener[char], text: content, isApart };
      } else if (specials.includes(char)) {
        this.#position++;
        return { kind: 'special', text: char, isApart };
      } else {
        return { kind: 'word', text: this.#word(), isApart };
      }
    }
  }

  /** What stands between `opener` at the position and its end, or null when it has none. */
  #enclosed(opener: Opener): string | null {
    const start = this.#position + 1;
    const end = this.#unclosed.has(opener) ? -1 : enclosedEnd(this.#text, start, opener);
    if (end < 0) {
      this.#unclosed.add(opener);
      this.#position = start;
      return null;
    }
    this.#position = end + 1;
    const content = this.#text.slice(start, end);
    return opener === '[' ? `[${content.replace(/\s+/g, '')}]` : content.replace(/\\(.)/gs, '$1');
  }

  #word(): string {
    const start = this.#position;
    let i = start;
    while (i < this.#text.length) {
      const wordEnd = this.#encodedWords.get(i);
      if (wordEnd !== undefined) i = wordEnd;
      else if (i > start && endsWord.test(this.#text[i] ?? '')) break;
      else i++;
    }
    this.#position = i;
    return this.#text.slice(start, i);
  }
}

function isOpener(char: string): char is Opener {
  return char === '"' || char === '(' || char === '[';
}

/** The position of the closer; comments nest (RFC 5322 section 3.2.2). */
function enclosedEnd(text: string, start: number, opener: Opener): number {
  let depth = 1;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (char === '\\' && opener !== '[') i++;
    else if (char === closers[opener]) depth--;
    else if (char === opener && opener === '(') depth++;
    if (depth === 0) return i;
  }
  return -1;
}
