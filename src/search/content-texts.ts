/** The bodies in a stored content, of a received message or a sent one. */
export interface ContentTexts {
  readonly text: string | null;
  readonly html: string | null;
}

const NONE: ContentTexts = { text: null, html: null };

/**
 * The bodies in a content, of which a long one may have been cut off at its end. Quotes within values are escaped, so
 * these names stand only where the fields begin; fields of the header come before them, and none of those is called so.
 * None where it is damaged.
 */
export function textsOfContent(content: Uint8Array): ContentTexts {
  const json = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  try {
    const { text = null, html = null } = JSON.parse(json.toString('utf8')) as Partial<ContentTexts>;
    return { text, html };
  } catch {
    return json.at(-1) === CLOSING_BRACE
      ? NONE
      : { text: fieldOf(json, 'text'), html: fieldOf(json, 'html') };
  }
}

const CLOSING_BRACE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The text in a field, as far as it is there. */
function fieldOf(json: Buffer, name: string): string | null {
  const place = json.indexOf(`"${name}":"`);
  if (place < 0) return null;
  const start = place + name.length + 4;
  let end = start;
  // Where the last escape begins: it may be cut off.
  while (end < json.length && json[end] !== QUOTE)
    end += json[end] === BACKSLASH ? escapeLength(json, end) : 1;
  if (end > json.length) end = json.lastIndexOf(BACKSLASH);
  try {
    // The decoder replaces half a character at the end, which belongs to no word.
    return JSON.parse(`"${json.toString('utf8', start, end)}"`) as string;
  } catch {
    return null;
  }
}

const LETTER_U = 0x75;

/** `\n` has two bytes, `\u000b` six (RFC 8259 section 7). */
function escapeLength(json: Buffer, at: number): number {
  return json[at + 1] === LETTER_U ? 6 : 2;
}
