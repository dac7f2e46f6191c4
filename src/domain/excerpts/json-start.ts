import type { Bodies } from './excerpt.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const U = 0x75;

/**
 * Text and HTML in the JSON of a content of which only the first bytes are given: one of them may end there. Where that is
 * the text, the HTML is not looked at.
 */
export function startOfBodies(json: Buffer): Omit<Bodies, 'subject'> {
  const text = startOfText(json, 'text');
  if (text?.isCut === true) return { text: text.start, html: null, cut: 'text' };
  const html = startOfText(json, 'html');
  return { text: text?.start ?? null, html: html?.start ?? null, cut: html?.isCut === true ? 'html' : null };
}

/** Null where the field is null, or does not stand there. */
function startOfText(json: Buffer, name: 'text' | 'html'): { start: string; isCut: boolean } | null {
  // A quote within a value is escaped: these bytes stand only before the field itself.
  const field = `"${name}":"`;
  const found = json.indexOf(field);
  if (found < 0) return null;
  const from = found + field.length;
  let end = from;
  // No part of a character, and none of an escape, is left at the end.
  while (end < json.length && json[end] !== QUOTE) {
    const next = end + lengthAt(json, end);
    if (next > json.length) break;
    end = next;
  }
  return { start: JSON.parse(`"${json.toString('utf8', from, end)}"`) as string, isCut: json[end] !== QUOTE };
}

/** Bytes of an escape, or of a character (RFC 3629 section 3). */
function lengthAt(json: Buffer, at: number): number {
  const byte = json[at] ?? 0;
  if (byte === BACKSLASH) return json[at + 1] === U ? 6 : 2;
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
