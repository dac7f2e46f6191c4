import { decodedPieces } from './character-references.js';
import { HtmlScanner, type HtmlToken } from './html-scanner.js';
import { TextLayout } from './text-layout.js';

/** Elements that begin a new line, and the line breaks around them: two make a blank line. */
const BLOCKS: ReadonlyMap<string, 1 | 2> = new Map([
  ...of(
    1,
    'address article aside body caption center dd details div dt fieldset figcaption footer form header html ' +
      'legend li main nav section summary tbody tfoot thead tr',
  ),
  ...of(2, 'blockquote dl figure h1 h2 h3 h4 h5 h6 hr ol p pre table ul'),
]);

function of<const Value>(value: Value, names: string): [string, Value][] {
  return names.split(' ').map(name => [name, value]);
}

/** Tokens or characters between two pauses. */
const STEPS = 1024;

/**
 * The text of HTML, for readers that do not show HTML. Tags and scripts are removed, character references decoded, and
 * blocks put on their own lines with at most one blank line between them. Nothing is rendered or fetched. It takes
 * linear time, and the text is never longer than the HTML. It yields after each short piece of work.
 */
export function* htmlToText(html: string): Generator<void, string> {
  const scanner = new HtmlScanner(html);
  const layout = new TextLayout(html.length);
  let openPres = 0;
  let steps = 0;
  for (let token = scanner.next(); token !== null; token = scanner.next()) {
    if (token.kind === 'text') {
      for (const piece of decodedPieces(html.slice(token.start, token.end))) {
        if (openPres > 0) layout.addLines(piece);
        else layout.addWords(piece);
        if (++steps % STEPS === 0 || piece.length > STEPS) yield;
      }
    } else if (token.kind === 'tag') {
      if (token.name === 'pre') openPres = Math.max(0, openPres + (token.isClosing ? -1 : 1));
      layOut(token, layout);
    }
    if (++steps % STEPS === 0 || token.kind === 'part' || token.end - token.start > STEPS) yield;
  }
  return layout.text();
}

function layOut({ name, isClosing }: HtmlToken, layout: TextLayout): void {
  const breaks = BLOCKS.get(name);
  if (breaks !== undefined) layout.separate(breaks);
  else if (name === 'br') layout.breakLine();
  else if (name === 'td' || name === 'th') layout.addSpace();
  if (name === 'li') layout.mark(isClosing ? '' : '- ');
}

/** Elements that come before the body of a document, and those around them. */
const BEFORE_BODY = new Set('base basefont bgsound head html link meta script style title'.split(' '));

/**
 * Position at which the visible part of HTML begins: after the opening tag of the body, or in a fragment without one
 * after everything that comes before a body. It yields after each short piece of work.
 */
export function* htmlBodyStart(html: string): Generator<void, number> {
  const scanner = new HtmlScanner(html);
  let start = 0;
  let steps = 0;
  for (let token = scanner.next(); token !== null; token = scanner.next()) {
    if (token.kind === 'part') {
      yield;
      continue;
    }
    if (token.kind === 'tag' && token.name === 'body' && !token.isClosing) return token.end;
    const isBefore =
      token.kind === 'markup' ||
      (token.kind === 'tag' && BEFORE_BODY.has(token.name)) ||
      (token.kind === 'text' && html.slice(token.start, token.end).trim() === '');
    if (!isBefore) return start;
    // White space before the visible part belongs to it.
    if (token.kind !== 'text') start = token.end;
    if (++steps % STEPS === 0) yield;
  }
  return start;
}
