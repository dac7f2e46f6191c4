import type { ParsedAddress, ParsedMailbox } from '../../contract/messages.js';
import { cleanText } from '../../domain/text.js';
import { type AddressToken, bareMailboxes, joinAngleAddress, tokenizeAddresses } from './address-tokens.js';
import { decodeEncodedWords } from './encoded-words.js';
import { decodeRawValue } from './header-fields.js';
import type { ParseLimits } from './limits.js';

/**
 * The addresses of a raw header value (RFC 5322 section 3.4, with the obsolete forms of 4.4). No address is lost to a
 * missing comma, an unclosed bracket or quote, or semicolons between addresses. Domains are given as written, never
 * converted from or to punycode.
 */
export function parseAddresses(raw: string, limits: ParseLimits): readonly ParsedAddress[] {
  const text = decodeRawValue(raw);
  const reader = new AddressListReader(limits);
  for (const token of tokenizeAddresses(text)) {
    if (reader.isFull) break;
    reader.read(token);
  }
  return reader.end();
}

class AddressListReader {
  readonly #limits: ParseLimits;
  readonly #list: ParsedAddress[] = [];
  #count = 0;
  #group: { readonly name: string; readonly members: ParsedMailbox[] } | null = null;
  /** The words of the current mailbox: before, inside and after its angle brackets. */
  #phrase: AddressToken[] = [];
  #angle: AddressToken[] | null = null;
  #after: AddressToken[] = [];
  #comments: string[] = [];
  #isInAngle = false;
  /** True in a source route `@one,@two:` before an address, which may have commas (RFC 5322 section 4.4). */
  #isInRoute = false;

  constructor(limits: ParseLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#count >= this.#limits.addresses;
  }

  read(token: AddressToken): void {
    if (token.kind === 'comment') {
      if (!this.#isInAngle) this.#comments.push(token.text);
    } else if (this.#isInAngle && this.#readInAngle(token)) {
      // The token was part of the address in brackets.
    } else if (token.kind === 'special') {
      this.#readSpecial(token);
    } else {
      this.#words().push(token);
    }
  }

  end(): readonly ParsedAddress[] {
    this.#endMailbox();
    this.#endGroup();
    return this.#list;
  }

  /** Takes a token inside angle brackets; false when it shows that the bracket is never closed. */
  #readInAngle(token: AddressToken): boolean {
    const angle = this.#angle ?? [];
    if (token.kind !== 'special' || token.text === '@' || token.text === ':') {
      if (angle.length === 0) this.#isInRoute = token.text === '@';
      if (token.text === ':') this.#isInRoute = false;
      angle.push(token);
    } else if (token.text === '<') {
      this.#angle = [];
    } else if (token.text === '>') {
      this.#isInAngle = false;
    } else if (token.text === ',' && this.#isInRoute) {
      angle.push(token);
    } else {
      this.#isInAngle = false;
      return false;
    }
    return true;
  }

  #readSpecial(token: AddressToken): void {
    if (token.text === '<') {
      // A second bracket without a comma begins the next mailbox; the words before it are its name.
      if (this.#angle !== null) {
        const name = this.#after;
        this.#after = [];
        this.#endMailbox();
        this.#phrase = name;
      }
      this.#angle = [];
      this.#isInAngle = true;
    } else if (token.text === ',') {
      this.#endMailbox();
    } else if (token.text === ';') {
      this.#endMailbox();
      this.#endGroup();
    } else if (token.text === ':' && this.#opensGroup()) {
      this.#group = { name: this.#nameOf(this.#phrase), members: [] };
      this.#clear();
    } else if (token.text !== '>') {
      this.#words().push(token);
    }
  }

  #opensGroup(): boolean {
    const phrase = this.#phrase;
    return this.#group === null && this.#angle === null && phrase.length > 0 && !phrase.some(isAt);
  }

  #words(): AddressToken[] {
    return this.#angle === null ? this.#phrase : this.#after;
  }

  #endMailbox(): void {
    const comment = this.#comments.join(' ');
    if (this.#angle !== null) {
      const name = this.#nameOf(this.#phrase) || this.#nameOf(this.#after) || this.#text(comment);
      this.#add({ name, address: cleanText(joinAngleAddress(this.#angle)) });
    } else {
      for (const { name, address } of bareMailboxes(this.#phrase)) {
        this.#add({ name: this.#nameOf(name) || this.#text(comment), address: cleanText(address) });
      }
    }
    this.#clear();
  }

  #clear(): void {
    this.#phrase = [];
    this.#angle = null;
    this.#after = [];
    this.#comments = [];
    this.#isInAngle = false;
  }

  #add(mailbox: ParsedMailbox): void {
    if (mailbox.name === '' && mailbox.address === '') return;
    this.#count++;
    (this.#group?.members ?? this.#list).push(mailbox);
  }

  #endGroup(): void {
    if (this.#group === null) return;
    this.#list.push({ name: this.#group.name, group: this.#group.members });
    this.#group = null;
    // Groups count too, or a header of empty groups would have no limit.
    this.#count++;
  }

  #nameOf(tokens: readonly AddressToken[]): string {
    return this.#text(tokens.map((t, i) => (t.isApart && i > 0 ? ` ${t.text}` : t.text)).join(''));
  }

  /** Encoded words are decoded only after the structure is known, so that their text cannot change it. */
  #text(words: string): string {
    return words === '' ? '' : cleanText(decodeEncodedWords(words));
  }
}

function isAt(token: AddressToken): boolean {
  return token.kind === 'special' && token.text === '@';
}
