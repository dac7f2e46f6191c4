import { HtmlScanner } from './html-scanner.js';

/** Where a line can be put into HTML so that it is shown, at its end. */
export interface Place {
  readonly at: number;
  /** Goes before the line: closes what would hide it. */
  readonly closing: string;
}

/** Elements that do not show paragraphs in them, or not always; `HIDDEN` of `html-scanner.ts` are others. */
const COVERING = new Set(
  'select template svg math object video audio canvas datalist noscript details dialog meter progress rp'.split(
    ' ',
  ),
);

/** Elements that are open, the innermost first. */
type OpenElements = { readonly name: string; readonly outer: OpenElements } | null;

/**
 * Before the last `</body>`, or at the end of HTML without one. A comment, script, tag or other construct that is never
 * closed takes in the rest for a browser: it is closed first. So are elements such as `select` and `template`;
 * `plaintext` cannot be closed, so the place is before it. Style sheets are not looked at. It takes linear time.
 */
export function attributionPlace(html: string): Place {
  return placeIn(html, true);
}

function placeIn(html: string, hasBody: boolean): Place {
  const scanner = new HtmlScanner(html);
  let open: OpenElements = null;
  let bodyEnd: { readonly at: number; readonly open: OpenElements } | null = null;
  for (let token = scanner.next(); token !== null; token = scanner.next()) {
    const { kind, name, isClosing, start } = token;
    if (kind === 'tag' && name === 'plaintext' && !isClosing) return { at: start, closing: tagsOf(open) };
    if (scanner.unclosed !== null) break;
    if (kind !== 'tag') continue;
    if (isClosing && name === 'body') {
      if (hasBody) bodyEnd = { at: start, open };
    } else if (COVERING.has(name)) {
      // A closing tag out of order may close nothing: then one too many is written, which does no harm.
      if (!isClosing) open = { name, outer: open };
      else if (open?.name === name) open = open.outer;
    }
  }
  if (bodyEnd !== null) return { at: bodyEnd.at, closing: tagsOf(bodyEnd.open) };
  const { unclosed } = scanner;
  if (unclosed === null) return { at: html.length, closing: tagsOf(open) };
  if (unclosed === '') return { at: html.length, closing: open === null ? '' : `>${tagsOf(open)}` };
  // A tag that is closed may open an element to be closed in turn.
  const place = placeIn(html + unclosed, false);
  if (place.at < html.length) return place;
  return { at: html.length, closing: unclosed + place.closing };
}

function tagsOf(open: OpenElements): string {
  const tags: string[] = [];
  for (let element = open; element !== null; element = element.outer) tags.push(`</${element.name}>`);
  return tags.join('');
}
