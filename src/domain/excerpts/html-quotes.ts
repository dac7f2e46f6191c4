import { decodedPieces } from '../html/character-references.js';
import { HtmlScanner, type HtmlToken } from '../html/html-scanner.js';
import { isForwardTitle } from './phrases.js';

/** In place of a quote: in the text that is made of the HTML, a quoted line. */
const QUOTE = '<p>&gt;</p>';

/** Tokens between two pauses. */
const STEPS = 1_024;
/** UTF-16 units of a tag that are looked at. */
const MAX_TAG = 1_000;

/**
 * What an element is for the program that made it: the mail that is answered, that and all that follows it, or a
 * signature.
 */
type Role = 'quote' | 'history' | 'signature';

const NAMES = new Set(['blockquote', 'div', 'span', 'pre', 'p', 'table', 'section']);
/** Gmail, Yahoo, Proton, Zoho, Tuta. */
const QUOTE_CLASS =
  /(?:^|\s)(?:gmail_quote|yahoo_quoted|protonmail_quote|zmail_extra|tutanota_quote)(?:\s|$)/;
/** Gmail puts mail that it passes on into a `div` of the class, too; of its quotes only the `blockquote` is none. */
const GMAIL_DIV = /(?:^|\s)gmail_quote(?:_container)?(?:\s|$)/;
/** Outlook in all its forms. */
const HISTORY_ID = /^(?:divRplyFwdMsg|mail-editor-reference-message-container)$/;
const SIGNATURE_CLASS =
  /(?:^|\s)(?:gmail_signature|gmail_signature_prefix|moz-signature|protonmail_signature_block)(?:\s|$)/;
const SIGNATURE_ID = /^(?:Signature|ms-outlook-mobile-signature|AppleMailSignature)$/;

/** An element that is left out, with those of its name within it. */
interface LeftOut {
  readonly role: Role;
  readonly name: string;
  /** Where it starts in the HTML. */
  readonly start: number;
  depth: number;
  /** Whether it may be mail that is passed on, whose title stands first in it. */
  isOpen: boolean;
}

/**
 * HTML without the signatures and the mail that it quotes, as far as the programs that write HTML mail mark them; a
 * quoted line stands for each quote. It yields after each short piece of work.
 * @param isForward the subject says that the message passes another on
 */
export function* htmlWithoutQuotes(html: string, isForward: boolean): Generator<void, string> {
  const scanner = new HtmlScanner(html);
  const pieces: string[] = [];
  let keptFrom = 0;
  let out: LeftOut | null = null;
  let steps = 0;
  for (let token = scanner.next(); token !== null; token = scanner.next()) {
    if (++steps % STEPS === 0 || token.kind === 'part') yield;
    if (out === null) {
      const role = roleOf(html, token);
      if (role === 'history') {
        if (isForward) continue;
        pieces.push(html.slice(keptFrom, token.start));
        return pieces.join('');
      }
      if (role !== null)
        out = { role, name: token.name, start: token.start, depth: 1, isOpen: role === 'quote' };
      continue;
    }
    if (out.isOpen && token.kind === 'text') {
      const words = textOf(html, token);
      if (words === '') continue;
      out.isOpen = false;
      if (isForwardTitle(words)) out = null;
    } else if (token.kind === 'tag' && token.name === out.name) {
      out.depth += token.isClosing ? -1 : 1;
      if (out.depth > 0) continue;
      pieces.push(html.slice(keptFrom, out.start), out.role === 'quote' ? QUOTE : '');
      keptFrom = token.end;
      out = null;
    }
  }
  if (out === null) return keptFrom === 0 ? html : pieces.join('') + html.slice(keptFrom);
  pieces.push(html.slice(keptFrom, out.start), out.role === 'quote' ? QUOTE : '');
  return pieces.join('');
}

function roleOf(html: string, { kind, name, isClosing, start, end }: HtmlToken): Role | null {
  if (kind !== 'tag' || isClosing || !NAMES.has(name)) return null;
  // Most tags have no attributes.
  if (end - start <= name.length + 4) return null;
  const tag = html.slice(start, Math.min(end, start + MAX_TAG));
  const classes = attribute(tag, 'class');
  const id = attribute(tag, 'id');
  if (name === 'blockquote') {
    const isCite = attribute(tag, 'type').toLowerCase() === 'cite';
    return isCite || QUOTE_CLASS.test(classes) ? 'quote' : null;
  }
  if (HISTORY_ID.test(id)) return 'history';
  if (SIGNATURE_CLASS.test(classes) || SIGNATURE_ID.test(id)) return 'signature';
  if (name !== 'div') return null;
  const isQuote = QUOTE_CLASS.test(classes) || attribute(tag, 'name') === 'quote';
  return isQuote && !GMAIL_DIV.test(classes) ? 'quote' : null;
}

/** The value of an attribute; `""` when there is none. */
function attribute(tag: string, name: 'class' | 'id' | 'type' | 'name'): string {
  const found = ATTRIBUTES[name].exec(tag);
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? '';
}

const ATTRIBUTES = {
  class: /\sclass\s?=\s?(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i,
  id: /\sid\s?=\s?(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i,
  type: /\stype\s?=\s?(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i,
  name: /\sname\s?=\s?(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i,
} as const;

/** The words of a text, as far as the title of a forward would go. */
function textOf(html: string, { start, end }: HtmlToken): string {
  let words = '';
  for (const piece of decodedPieces(html.slice(start, Math.min(end, start + MAX_TAG)))) words += piece;
  return words.trim();
}
