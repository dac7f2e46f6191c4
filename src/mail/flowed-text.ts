/**
 * Joins the lines of format=flowed text (RFC 3676 section 4): a line that ends in a space goes on in the
 * next one of the same quote depth, space-stuffing is undone, quote marks stay, and the signature separator
 * is a line of its own. Lines end in LF, in and out.
 */
export function unflow(text: string, deletesSpace: boolean): string {
  const paragraphs: string[] = [];
  /** The paragraph that goes on in the next line, and its quote depth. */
  let open: string | null = null;
  let openDepth = 0;
  for (let start = 0; start <= text.length; ) {
    const lineFeed = text.indexOf('\n', start);
    const end = lineFeed < 0 ? text.length : lineFeed;
    const depth = quoteDepth(text, start);
    const content = text.slice(text[start + depth] === ' ' ? start + depth + 1 : start + depth, end);
    const isSignature = content === '-- ';
    if (open !== null && (depth !== openDepth || isSignature)) {
      paragraphs.push(quoted(open, openDepth));
      open = null;
    }
    const isFlowed = content.endsWith(' ') && !isSignature;
    const joined: string = (open ?? '') + (isFlowed && deletesSpace ? content.slice(0, -1) : content);
    open = isFlowed ? joined : null;
    if (!isFlowed) paragraphs.push(quoted(joined, depth));
    openDepth = depth;
    start = end + 1;
  }
  if (open !== null) paragraphs.push(quoted(open, openDepth));
  return paragraphs.join('\n');
}

function quoteDepth(text: string, start: number): number {
  let depth = 0;
  while (text[start + depth] === '>') depth++;
  return depth;
}

function quoted(content: string, depth: number): string {
  if (depth === 0) return content;
  return content === '' ? '>'.repeat(depth) : `${'>'.repeat(depth)} ${content}`;
}
