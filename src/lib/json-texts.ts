/** UTF-16 units of a text between two pauses. */
const PIECE = 64 * 1024;

/** An object whose members are texts, as JSON in UTF-8. It yields after each short piece of work. */
export function* jsonOfTexts(texts: Readonly<Record<string, string>>): Generator<void, Buffer> {
  const parts: Buffer[] = [];
  let before = '{';
  for (const [name, text] of Object.entries(texts)) {
    parts.push(Buffer.from(`${before}${JSON.stringify(name)}:"`));
    for (let at = 0; at < text.length; ) {
      const end = pieceEnd(text, at);
      parts.push(Buffer.from(JSON.stringify(text.slice(at, end)).slice(1, -1)));
      at = end;
      yield;
    }
    before = '",';
  }
  parts.push(Buffer.from(before === '{' ? '{}' : '"}'));
  return Buffer.concat(parts);
}

/** Not between the halves of a surrogate pair: each would be written as an escape of its own. */
function pieceEnd(text: string, from: number): number {
  const end = Math.min(from + PIECE, text.length);
  return end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end;
}
