import { piecesOfText } from './slices.js';

/** An object whose members are texts, as JSON in UTF-8. It yields after each short piece of work. */
export function* jsonOfTexts(texts: Readonly<Record<string, string>>): Generator<void, Buffer> {
  const parts: Buffer[] = [];
  let before = '{';
  for (const [name, text] of Object.entries(texts)) {
    parts.push(Buffer.from(`${before}${JSON.stringify(name)}:"`));
    for (const piece of piecesOfText(text)) {
      parts.push(Buffer.from(JSON.stringify(piece).slice(1, -1)));
      yield;
    }
    before = '",';
  }
  parts.push(Buffer.from(before === '{' ? '{}' : '"}'));
  return Buffer.concat(parts);
}
