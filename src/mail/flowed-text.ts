/** So many pieces are joined at a time: millions of small strings would take many times the memory of the text. */
const PIECES_PER_BLOCK = 8_192;

/**
 * Joins the lines of format=flowed text (RFC 3676 section 4): a line that ends in a space goes on in the
 * next one of the same quote depth, space-stuffing is undone, quote marks stay, and the signature separator
 * is a line of its own. Lines end in LF, in and out.
 */
export function unflow(text: string, deletesSpace: boolean): string {
  const blocks: string[] = [];
  let pieces: string[] = [];
  let goesOn = false;
  let depthBefore = 0;
  for (let start = 0; start <= text.length; ) {
    const lineFeed = text.indexOf('\n', start);
    const end = lineFeed < 0 ? text.length : lineFeed;
    const depth = quoteDepth(text, start);
    const content = text.slice(text[start + depth] === ' ' ? start + depth + 1 : start + depth, end);
    const isSignature = content === '-- ';
    if (!goesOn || depth !== depthBefore || isSignature) {
      if (start > 0) pieces.push('\n');
      if (depth > 0) pieces.push('>'.repeat(depth), content === '' ? '' : ' ');
    }
    goesOn = content.endsWith(' ') && !isSignature;
    pieces.push(goesOn && deletesSpace ? content.slice(0, -1) : content);
    if (pieces.length >= PIECES_PER_BLOCK) {
      blocks.push(pieces.join(''));
      pieces = [];
    }
    depthBefore = depth;
    start = end + 1;
  }
  return blocks.join('') + pieces.join('');
}

function quoteDepth(text: string, start: number): number {
  let depth = 0;
  while (text[start + depth] === '>') depth++;
  return depth;
}
