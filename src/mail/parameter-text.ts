import { decodeText } from './charset.js';
import { decodeEncodedWords } from './encoded-words.js';
import { decodeRawValue } from './header-text.js';
import { decodeHexEscapes } from './hex-escape.js';
import type { StructuredHeader } from './structured-header.js';

/**
 * A parameter as text: the extended and continued forms of RFC 2231 (sections 3 and 4) win over the plain
 * one; the plain form may hold encoded words, which RFC 2047 section 5 forbids and senders use.
 */
export function parameterText(
  header: StructuredHeader,
  attribute: string,
  maxEncodedWords: number,
): string | null {
  const extended = header.parameters.get(`${attribute}*`);
  if (extended !== undefined) return decodeExtended([{ text: extended, isEncoded: true }]);
  const pieces = continuedPieces(header, attribute);
  if (pieces.some(piece => piece.isEncoded)) return decodeExtended(pieces);
  const plain =
    pieces.length > 0 ? pieces.map(piece => piece.text).join('') : header.parameters.get(attribute);
  return plain === undefined ? null : decodeEncodedWords(decodeRawValue(plain), maxEncodedWords);
}

/** A parameter that is a token of ASCII, such as charset or boundary: the raw characters. */
export function parameterToken(header: StructuredHeader, attribute: string): string | null {
  const plain = header.parameters.get(attribute);
  if (plain !== undefined) return plain;
  const pieces = continuedPieces(header, attribute);
  if (pieces.length > 0) return pieces.map(piece => piece.text).join('');
  return header.parameters.get(`${attribute}*`)?.replace(/^[^']*'[^']*'/, '') ?? null;
}

interface ParameterPiece {
  readonly text: string;
  readonly isEncoded: boolean;
}

/** The pieces `name*0`, `name*1*`, ... as far as they follow each other (RFC 2231 section 3). */
function continuedPieces(header: StructuredHeader, attribute: string): readonly ParameterPiece[] {
  const pieces: ParameterPiece[] = [];
  for (let index = 0; ; index++) {
    const encoded = header.parameters.get(`${attribute}*${index}*`);
    const text = encoded ?? header.parameters.get(`${attribute}*${index}`);
    if (text === undefined) return pieces;
    pieces.push({ text, isEncoded: encoded !== undefined });
  }
}

/** Joins the bytes of all pieces before decoding them: a character may straddle two of them. */
function decodeExtended(pieces: readonly ParameterPiece[]): string {
  let charset: string | null = null;
  const bytes = pieces.map(({ text, isEncoded }, index) => {
    if (!isEncoded) return Buffer.from(text, 'latin1');
    // Only the first piece names the charset and language (RFC 2231 section 4.1).
    const prefix = index === 0 ? /^([^']*)'[^']*'/.exec(text) : null;
    if (prefix !== null) charset = prefix[1] ?? '';
    return decodeHexEscapes(Buffer.from(text.slice(prefix?.[0].length ?? 0), 'latin1'), '%');
  });
  return decodeText(Buffer.concat(bytes), charset);
}
