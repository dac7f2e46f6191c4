import { findEncodedWords } from './encoded-words.js';

/** A token of an address header (RFC 5322 section 3.2). */
export interface AddressToken {
  readonly kind: 'word' | 'quoted' | 'literal' | 'comment' | 'special';
  /** Without quotes or parentheses, quoted pairs decoded. */
  readonly text: string;
  /** True when white space or a comment comes before it. */
  readonly isApart: boolean;
}

/**
 * Splits an address header into tokens, in one pass. The opening character of a quote, comment or bracket that is never
 * closed is ignored. An encoded word is one token whatever its characters, so a colon in it opens no group.
 */
export function tokenizeAddresses(text: string): readonly AddressToken[] {
  const scanner = new AddressScanner(text);
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
  /** End of each encoded word by its beginning. */
  readonly #encodedWords = new Map<number, number>();
  /** Openers whose end was searched for in vain, so that it is not searched for again. */
  readonly #unclosed = new Set<Opener>();
  #position = 0;
  #isAfterComment = false;

  constructor(text: string) {
    this.#text = text;
    for (const { start, end } of findEncodedWords(text)) {
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

  /** The text between the `opener` at the position and its closer; null when it is never closed. */
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

/** The position of the closer, or -1; comments nest (RFC 5322 section 3.2.2). */
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

/** An address and the words of its name. */
export interface NamedAddress {
  readonly name: readonly AddressToken[];
  readonly address: string;
}

/** A local part that needs no quotes (RFC 5322 section 3.2.3, RFC 6532 section 3.2). */
const dotAtom = /^[^\s\u0000-\u0020()<>[\]:;@\\,."]+(?:\.[^\s\u0000-\u0020()<>[\]:;@\\,."]+)*$/;

/**
 * The address between angle brackets. A source route before it is dropped (RFC 5322 section 4.4), and so is white space
 * that folding left around dots, around "@" and in the domain.
 */
export function joinAngleAddress(tokens: readonly AddressToken[]): string {
  const colon = isSpecial(tokens[0], '@') ? tokens.findLastIndex(token => isSpecial(token, ':')) : -1;
  return joinAddress(tokens.slice(colon + 1));
}

/**
 * The mailboxes in words without angle brackets. Each "@" makes an address, and the words before it are its name; the
 * last address is named by the words after it when there are none before. Without an "@" the words are a name, and
 * the address is empty.
 */
export function bareMailboxes(tokens: readonly AddressToken[]): readonly NamedAddress[] {
  const mailboxes: NamedAddress[] = [];
  let rest = 0;
  for (let at = nextAt(tokens, 0); at >= 0; at = nextAt(tokens, rest)) {
    const start = localPartStart(tokens, at, rest);
    const end = domainEnd(tokens, at);
    mailboxes.push({ name: tokens.slice(rest, start), address: joinAddress(tokens.slice(start, end)) });
    rest = end;
  }
  const trailing = tokens.slice(rest);
  const last = mailboxes.at(-1);
  if (last === undefined) return trailing.length > 0 ? [{ name: trailing, address: '' }] : [];
  if (last.name.length === 0) mailboxes[mailboxes.length - 1] = { name: trailing, address: last.address };
  return mailboxes;
}

function nextAt(tokens: readonly AddressToken[], from: number): number {
  for (let i = from; i < tokens.length; i++) if (isSpecial(tokens[i], '@')) return i;
  return -1;
}

/** A local part continues across dots with white space around them (RFC 5322 section 4.4, obs-local-part). */
function localPartStart(tokens: readonly AddressToken[], at: number, from: number): number {
  let start = Math.max(from, at - 1);
  while (start > from && runsOn(tokens[start - 1], tokens[start])) start--;
  return start;
}

function domainEnd(tokens: readonly AddressToken[], at: number): number {
  let end = Math.min(tokens.length, at + 2);
  while (end < tokens.length) {
    const token = tokens[end];
    // `a@b@c` is not an address, and half of it must not be taken for one.
    const isSecondAt = isSpecial(token, '@') && token?.isApart === false;
    if (!isSecondAt && !isSpecial(tokens[end - 1], '@') && !runsOn(tokens[end - 1], token)) break;
    end++;
  }
  return end;
}

function runsOn(before: AddressToken | undefined, after: AddressToken | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  if (isSpecial(before, '@') || isSpecial(after, '@')) return false;
  return !after.isApart || before.text.endsWith('.') || after.text.startsWith('.');
}

function joinAddress(tokens: readonly AddressToken[]): string {
  let address = '';
  let isDomain = false;
  tokens.forEach((token, index) => {
    const before = tokens[index - 1];
    const isClosed = isDomain || isSpecial(before, '@') || isSpecial(token, '@') || runsOn(before, token);
    if (index > 0 && !isClosed) address += ' ';
    if (isSpecial(token, '@')) isDomain = true;
    address += token.kind === 'quoted' ? quotedIfNeeded(token.text) : token.text;
  });
  return address;
}

function quotedIfNeeded(text: string): string {
  return dotAtom.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function isSpecial(token: AddressToken | undefined, text: string): boolean {
  return token?.kind === 'special' && token.text === text;
}
