import { decodeEntities, HtmlScanner, type HtmlToken } from './html-scanner.js';
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

/**
 * The text of HTML, for readers that do not show HTML. Tags and scripts are removed, character references decoded, and
 * blocks put on their own lines with at most one blank line between them. Nothing is rendered or fetched. It takes
 * linear time, and the text is never longer than the HTML.
 */
export function htmlToText(html: string): string {
  const scanner = new HtmlScanner(html);
  const layout = new TextLayout(html.length);
  let openPres = 0;
  for (let token = scanner.next(); token !== null; token = scanner.next()) {
    if (token.kind === 'text') {
      const text = decodeEntities(html.slice(token.start, token.end));
      if (openPres > 0) layout.addLines(text);
      else layout.addWords(text);
    } else if (token.kind === 'tag') {
      if (token.name === 'pre') openPres = Math.max(0, openPres + (token.isClosing ? -1 : 1));
      layOut(token, layout);
    }
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
 * after everything that comes before a body.
 */
export function htmlBodyStart(html: string): number {
  const scanner = new HtmlScanner(html);
  let start = 0;
  for (let token = scanner.next(); token !== null; token = scanner.next()) {
    if (token.kind === 'tag' && token.name === 'body' && !token.isClosing) return token.end;
    const isBefore =
      token.kind === 'markup' ||
      (token.kind === 'tag' && BEFORE_BODY.has(token.name)) ||
      (token.kind === 'text' && html.slice(token.start, token.end).trim() === '');
    if (!isBefore) return start;
    // White space before the visible part belongs to it.
    if (token.kind !== 'text') start = token.end;
  }
  return start;
}
