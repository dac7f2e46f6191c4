/**
 * So many pieces are joined at a time: millions of them, or of the matches of one `replace`, would take many
 * times the memory of the text.
 */
const PIECES_PER_BLOCK = 8_192;

/** Turns CRLF, the line end of text on the wire (RFC 2046 section 4.1.1), into LF; other CR stay as they are. */
export function toLineFeeds(text: string): string {
  const blocks: string[] = [];
  let pieces: string[] = [];
  let start = 0;
  for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n', start)) {
    pieces.push(text.slice(start, at));
    start = at + 1;
    if (pieces.length >= PIECES_PER_BLOCK) {
      blocks.push(pieces.join(''));
      pieces = [];
    }
  }
  pieces.push(text.slice(start));
  return blocks.join('') + pieces.join('');
}
