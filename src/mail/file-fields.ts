import { isUsableContentId } from '../domain/content-id.js';
import { isMediaType, UNKNOWN_TYPE } from '../domain/media-type.js';
import type { FileDescription } from '../domain/submission.js';
import { encodeWords } from './encode-words.js';
import { HEADER_LINE, headerField } from './header-field.js';
import { quoted } from './quoted-string.js';
import { refuseControls } from './refuse-controls.js';

/**
 * The header fields of a file, which is sent in base64.
 *
 * Messages and multiparts may not be (RFC 2045 section 6.4): a relay would have to look into them, and what
 * it must not encode it may change. So they go as bytes of no known type, whose name says what they are.
 */
export function fileFields(file: FileDescription): string {
  const { filename, type, disposition, contentId } = file;
  refuseControls('a file name', filename);
  if (!isMediaType(type)) throw new Error('a file type that did not pass the grammar');
  const sentType = /^(?:message|multipart)\//i.test(type) ? UNKNOWN_TYPE : type;
  return [
    headerField('Content-Type', [[`${sentType};`], nameParameter(filename)]),
    headerField('Content-Transfer-Encoding', [['base64']]),
    headerField('Content-Disposition', [[`${disposition};`], ...filenameParameter(filename)]),
    contentId === undefined ? '' : contentIdField(contentId),
  ].join('');
}

function contentIdField(contentId: string): string {
  if (!isUsableContentId(contentId)) throw new Error('a Content-ID that cannot be transmitted');
  return headerField('Content-ID', [[`<${contentId}>`]]);
}

/** What can stand in quotes: some readers would decode what looks like an encoded word there. */
function isPlainFilename(filename: string): boolean {
  return /^[ -~]+$/.test(filename) && !filename.includes('=?');
}

/**
 * The name once more, for clients that look here alone: old Outlooks, which do not know RFC 2231 either and
 * want encoded words in the quotes. RFC 2047 section 5 forbids those, and every widely used client writes
 * them here; who reads RFC 2231 takes the name from Content-Disposition.
 */
function nameParameter(filename: string): readonly string[] {
  if (isPlainFilename(filename)) return [`name=${quoted(filename)}`];
  const room = HEADER_LINE - ' name="'.length - '"'.length;
  const words = encodeWords(filename, room, room);
  return `name="${words.join(' ')}"`.split(' ');
}

/** A name of ASCII in quotes, which everybody reads; any other by RFC 2231 sections 3 and 4. */
function filenameParameter(filename: string): readonly (readonly string[])[] {
  if (isPlainFilename(filename)) return [[`filename=${quoted(filename)}`]];
  const escaped = Array.from(filename.toWellFormed(), escapeCharacter);
  const whole = `filename*=utf-8''${escaped.join('')}`;
  if (whole.length < HEADER_LINE) return [[whole]];
  const pieces: string[] = [];
  let piece = "filename*0*=utf-8''";
  for (const character of escaped) {
    // Not inside a character, for readers that decode piece by piece; a semicolon and the space before count too.
    if (piece.length + character.length + 2 > HEADER_LINE) {
      pieces.push(`${piece};`);
      piece = `filename*${pieces.length}*=`;
    }
    piece += character;
  }
  return [...pieces, piece].map(text => [text]);
}

/** All but the attribute characters of RFC 2231 section 7, and of those the ones that everybody takes for such. */
function escapeCharacter(character: string): string {
  if (/[A-Za-z0-9._-]/.test(character)) return character;
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}
