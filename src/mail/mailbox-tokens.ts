import type { AddressToken } from './address-tokens.js';

/** An address and the words that name it. */
export interface NamedAddress {
  readonly name: readonly AddressToken[];
  readonly address: string;
}

/** A local part that needs no quotes (RFC 5322 section 3.2.3, RFC 6532 section 3.2). */
const dotAtom = /^[^\s\u0000-\u0020()<>[\]:;@\\,."]+(?:\.[^\s\u0000-\u0020()<>[\]:;@\\,."]+)*$/;

/**
 * The address between angle brackets. A source route before it is dropped (RFC 5322 section 4.4), and white
 * space that folding left around dots, around "@" and in the domain is closed up.
 */
export function joinAngleAddress(tokens: readonly AddressToken[]): string {
  const colon = isSpecial(tokens[0], '@') ? tokens.findLastIndex(token => isSpecial(token, ':')) : -1;
  return joinAddress(tokens.slice(colon + 1));
}

/**
 * The mailboxes in words without angle brackets: an address around each "@", named by the words before it,
 * or else by those after the last. Without an "@" the words are a name and the address is empty.
 */
export function bareMailboxes(tokens: readonly AddressToken[]): readonly NamedAddress[] {
  const found: NamedAddress[] = [];
  let rest = 0;
  for (let at = nextAt(tokens, 0); at >= 0; at = nextAt(tokens, rest)) {
    const start = localPartStart(tokens, at, rest);
    const end = domainEnd(tokens, at);
    found.push({ name: tokens.slice(rest, start), address: joinAddress(tokens.slice(start, end)) });
    rest = end;
  }
  const trailing = tokens.slice(rest);
  const last = found.at(-1);
  if (last === undefined) return trailing.length > 0 ? [{ name: trailing, address: '' }] : [];
  if (last.name.length === 0) found[found.length - 1] = { name: trailing, address: last.address };
  return found;
}

function nextAt(tokens: readonly AddressToken[], from: number): number {
  for (let i = from; i < tokens.length; i++) if (isSpecial(tokens[i], '@')) return i;
  return -1;
}

/** Local parts run on over dots with white space around them (RFC 5322 section 4.4, obs-local-part). */
function localPartStart(tokens: readonly AddressToken[], at: number, from: number): number {
  let start = Math.max(from, at - 1);
  while (start > from && runsOn(tokens[start - 1], tokens[start])) start--;
  return start;
}

function domainEnd(tokens: readonly AddressToken[], at: number): number {
  let end = Math.min(tokens.length, at + 2);
  while (end < tokens.length) {
    const token = tokens[end];
    // `a@b@c` is no address, and neither half of it may pass for one.
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
