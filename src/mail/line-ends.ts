/** So much is rewritten at a time: for each match of one call the engine keeps many times its size in memory. */
const CHARACTERS_PER_STEP = 64 * 1024;

/** Turns CRLF, the line end of text on the wire (RFC 2046 section 4.1.1), into LF; other CR stay as they are. */
export function toLineFeeds(text: string): string {
  const steps: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + CHARACTERS_PER_STEP);
    if (text[end - 1] === '\r' && end < text.length) end++;
    steps.push(text.slice(start, end).replace(/\r\n/g, '\n'));
    start = end;
  }
  return steps.join('');
}
