import { HtmlScanner, type Unclosed } from './html-scanner.js';

/** Where a line can be put into HTML so that it is shown, at its end. */
export interface Place {
  readonly at: number;
  /** Goes before the line: closes what would hide it. */
  readonly closing: string;
}

/** Tokens or characters between two pauses. */
const STEPS = 1024;

/** Elements that do not show paragraphs in them, or not always; `HIDDEN` of `html-scanner.ts` are others. */
const COVERING = new Set(
  'select template svg math object video audio canvas datalist noscript details dialog meter progress rp'.split(
    ' ',
  ),
);

/** More of these in each other are not counted: then the line goes before the outermost. */
const MAX_COVERS = 100;

/** Elements that are open, the innermost first. */
type OpenElements = {
  readonly name: string;
  readonly outer: OpenElements;
  readonly depth: number;
  /** Where the outermost begins. */
  readonly start: number;
} | null;

/**
 * Before the last `</body>`, or at the end of HTML without one. A comment, script, tag or other construct that is never
 * closed takes in the rest for a browser: it is closed first. So are elements such as `select` and `template`;
 * `plaintext` cannot be closed, so the place is before it. Style sheets are not looked at. It takes linear time, and
 * yields after each short piece of work.
 */
export function* attributionPlace(html: string): Generator<void, Place> {
  const scanner = new HtmlScanner(html);
  let open: OpenElements = null;
  let bodyEnd: { readonly at: number; readonly open: OpenElements } | null = null;
  let steps = 0;
  for (let token = scanner.next(); token !== null; token = scanner.next()) {
    const { name, isClosing, start } = token;
    const { unclosed } = scanner;
    if (++steps % STEPS === 0 || token.kind === 'part' || token.end - start > STEPS) yield;
    if ((name === 'plaintext' && !isClosing) || unclosed?.opens === 'plaintext') {
      return { at: start, closing: tagsOf(open) };
    }
    if (unclosed !== null) break;
    if (name === 'body' && isClosing) {
      bodyEnd = { at: start, open };
    } else if (COVERING.has(name)) {
      // A closing tag out of order may close nothing: then one too many is written, which does no harm.
      if (!isClosing) open = opened(open, name, start);
      else if (open?.name === name) open = open.outer;
      if (open !== null && open.depth > MAX_COVERS) return { at: open.start, closing: '' };
    }
  }
  if (bodyEnd !== null) return { at: bodyEnd.at, closing: tagsOf(bodyEnd.open) };
  return { at: html.length, closing: closingOf(scanner.unclosed, open) };
}

function opened(outer: OpenElements, name: string, start: number): OpenElements {
  return { name, outer, depth: (outer?.depth ?? 0) + 1, start: outer?.start ?? start };
}

function closingOf(unclosed: Unclosed | null, open: OpenElements): string {
  if (unclosed === null) return tagsOf(open);
  const { closing, opens } = unclosed;
  const tags = `${COVERING.has(opens) ? `</${opens}>` : ''}${tagsOf(open)}`;
  // Any tag ends the construct: one that has to close an element is not to be spent on that.
  return closing === '' && tags !== '' ? `>${tags}` : `${closing}${tags}`;
}

function tagsOf(open: OpenElements): string {
  const tags: string[] = [];
  for (let element = open; element !== null; element = element.outer) tags.push(`</${element.name}>`);
  return tags.join('');
}
