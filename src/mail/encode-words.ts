/** The longest encoded word (RFC 2047 section 2). */
const LONGEST_ENCODED_WORD = 75;

/** What may stand for itself in the "Q" encoding: in a display name these alone (RFC 2047 section 5), elsewhere too. */
const PLAIN = /[A-Za-z0-9!*+/-]/;

/**
 * Text as encoded words in UTF-8 (RFC 2047), in the shorter one of both encodings; each holds whole characters
 * (section 5). White space between neighbours counts for nothing, so that every space has to be in one.
 * @param firstRoom octets for the first word
 * @param room octets for each of the others
 */
export function encodeWords(text: string, firstRoom = LONGEST_ENCODED_WORD, room = LONGEST_ENCODED_WORD): readonly string[] {
  const characters = Array.from(text.toWellFormed());
  const quoted = fill(characters, 'Q', firstRoom, room);
  const base64 = fill(characters, 'B', firstRoom, room);
  return base64.join(' ').length < quoted.join(' ').length ? base64 : quoted;
}

/** Puts as many characters into each word as it holds. */
function fill(
  characters: readonly string[],
  encoding: 'B' | 'Q',
  firstRoom: number,
  room: number,
): readonly string[] {
  const words: string[] = [];
  let content = '';
  let size = 0;
  const close = (): void => {
    words.push(
      `=?utf-8?${encoding}?${encoding === 'B' ? Buffer.from(content).toString('base64') : content}?=`,
    );
    content = '';
    size = 0;
  };
  for (const character of characters) {
    const piece = encoding === 'B' ? character : quote(character);
    const pieceSize = encoding === 'B' ? Buffer.byteLength(character) : piece.length;
    const space = Math.min(LONGEST_ENCODED_WORD, words.length === 0 ? firstRoom : room) - '=?utf-8?B??='.length;
    const taken = size + pieceSize;
    if (size > 0 && (encoding === 'B' ? Math.ceil(taken / 3) * 4 : taken) > space) close();
    content += piece;
    size += pieceSize;
  }
  if (size > 0) close();
  return words;
}

/** RFC 2047 section 4.2. */
function quote(character: string): string {
  if (character === ' ') return '_';
  if (PLAIN.test(character)) return character;
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '=$&');
}
