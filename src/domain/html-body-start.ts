import { HtmlScanner } from './html-scanner.js';

/** Elements that stand before the body of a document or hold what does. */
const BEFORE_BODY = new Set('base basefont bgsound head html link meta script style title'.split(' '));

/**
 * Where the visible part of HTML begins, be it a fragment or a whole document: behind the opening tag of the
 * body, or behind all that belongs before it.
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
    // White space belongs to what follows it.
    if (token.kind !== 'text') start = token.end;
  }
  return start;
}
