import { isMediaType, MAX_LINE_OCTETS, UNKNOWN_TYPE } from '../../domain/message-parts.js';
import { cleanText, safeFilename } from '../../domain/text.js';
import { decodeText } from './charset.js';
import { decodeEncodedWords, decodeHexEscapes } from './encoded-words.js';
import { decodeRawValue, type HeaderFields } from './header-fields.js';
import type { ParseLimits } from './limits.js';
import { parseStructuredHeader, type StructuredHeader } from './structured-header.js';

/** Where a part is in the structure of the message. */
export interface PartPlace {
  /** Number of multiparts around it. */
  readonly depth: number;
  /** True inside a `multipart/related` (RFC 2387), at any depth. */
  readonly isRelated: boolean;
  /** The multipart directly around it; null for the whole message. */
  readonly parent: MultipartForm | null;
  /** True for the first part of its parent. */
  readonly isFirst: boolean;
}

const splitKinds = ['alternative', 'related', 'digest', 'report'] as const;
type SplitKind = (typeof splitKinds)[number];

/** What a multipart says about the parts in it. */
export interface MultipartForm {
  /** The boundary, one character for each byte (Latin-1), in every form that may stand in a delimiter; never empty. */
  readonly boundaries: readonly string[];
  /** The subtypes that change what the parts in it are. */
  readonly kind: SplitKind | 'other';
  /** The Content-ID of the root of a `multipart/related`, without brackets; null for its first part (RFC 2387). */
  readonly start: string | null;
}

/** What the header of a part says about its content. */
export interface PartDescription {
  /** `type/subtype`, lower case. Malformed, it is `text/plain` (RFC 2045 section 5.2). */
  readonly mimeType: string;
  /** The type as a file: `application/octet-stream` when the sender gives none that can be used. */
  readonly fileType: string;
  /** What a multipart says about the parts in it; null for any other part. */
  readonly multipart: MultipartForm | null;
  readonly charset: string | null;
  readonly isFlowed: boolean;
  readonly deletesFlowSpace: boolean;
  /** Content-Transfer-Encoding as a bare token, lower case. */
  readonly encoding: string;
  readonly disposition: string | null;
  readonly filename: string | null;
  /** True when the sender gave it a file name, even one that is not safe to use. */
  readonly isNamed: boolean;
  readonly contentId: string | null;
}

/** A part that is not split, and where it stands. */
export interface Part {
  readonly description: PartDescription;
  readonly place: PartPlace;
  /** Where its body is in the message: offsets of its first byte and behind its last. Known once the body has ended. */
  rangeOf(): { readonly start: number; readonly end: number };
}

/** A token (RFC 2045 section 5.1) on each side of the slash. */
const mediaType = /^[!#$%&'*+\-.^_`{|}~0-9a-z]{1,127}\/[!#$%&'*+\-.^_`{|}~0-9a-z]{1,127}$/;

/** More than any media type or disposition has: each of its names has at most 127 characters (RFC 6838 section 4.2). */
const LONGEST_TYPE = 256;

/**
 * Reads the header of a part.
 * @param defaultType the media type when there is no Content-Type (RFC 2046 section 5.1.5)
 */
export function describePart(
  fields: HeaderFields,
  defaultType: string,
  limits: ParseLimits,
): PartDescription {
  const type = parseStructuredHeader(fields.first('content-type') ?? '', limits.parameters);
  const disposition = parseStructuredHeader(fields.first('content-disposition') ?? '', limits.parameters);
  const boundaries = boundariesOf(type);
  const name = fileNameOf(disposition, type);
  const written = mimeTypeOf(type, defaultType);
  const isMultipart = written.startsWith('multipart/');
  // Without a boundary the Content-Type of a multipart is malformed.
  const isMalformed = !mediaType.test(written) || (isMultipart && boundaries.length === 0);
  const mimeType = isMalformed ? 'text/plain' : written;
  return {
    mimeType,
    fileType: !isMalformed && isMediaType(mimeType) ? mimeType : UNKNOWN_TYPE,
    multipart:
      isMultipart && !isMalformed ? { boundaries, kind: kindOf(mimeType), start: startOf(type) } : null,
    charset: parameterToken(type, 'charset'),
    isFlowed: parameterToken(type, 'format')?.toLowerCase() === 'flowed',
    deletesFlowSpace: parameterToken(type, 'delsp')?.toLowerCase() === 'yes',
    encoding: encodingOf(fields.first('content-transfer-encoding')),
    disposition: cleanText(disposition.value).slice(0, LONGEST_TYPE).toLowerCase() || null,
    filename: name === '' ? null : safeFilename(name),
    isNamed: name !== '',
    contentId: contentIdOf(fields.firstFolded('content-id')),
  };
}

/**
 * The boundary; none when it does not fit on a line. It never ends in white space (RFC 2046 section 5.1.1). A tab in it
 * comes from folding inside the quotes: the delimiters then have the tab, a space, or what it was before the folding.
 */
function boundariesOf(type: StructuredHeader): readonly string[] {
  const boundary = parameterToken(type, 'boundary')?.trimEnd() ?? '';
  if (boundary === '' || boundary.length > MAX_LINE_OCTETS) return [];
  const withFolds = (by: string): string =>
    boundary.replace(/[ \t]+/g, blanks => (blanks.includes('\t') ? by : blanks));
  return [...new Set([boundary, withFolds(' '), withFolds('')])];
}

function kindOf(mimeType: string): MultipartForm['kind'] {
  const subtype = mimeType.slice('multipart/'.length);
  return splitKinds.find(kind => kind === subtype) ?? 'other';
}

/** The parameter `start` (RFC 2387 section 3.2), without its angle brackets. */
function startOf(type: StructuredHeader): string | null {
  return contentIdOf(parameterToken(type, 'start'));
}

function mimeTypeOf(type: StructuredHeader, defaultType: string): string {
  const written = type.value
    .slice(0, LONGEST_TYPE)
    .toLowerCase()
    .replace(/\s*\/\s*/, '/');
  return written === '' ? defaultType : written;
}

/** Only the token: scripts write `base64;`, and relays add comments. */
function encodingOf(raw: string | null): string {
  if (raw === null) return '';
  return parseStructuredHeader(raw, 0).value.toLowerCase();
}

/** The file name as the sender gives it; `""` when there is none. */
function fileNameOf(disposition: StructuredHeader, type: StructuredHeader): string {
  const fromDisposition = parameterText(disposition, 'filename');
  return (fromDisposition ?? parameterText(type, 'name') ?? '').trim();
}

/**
 * Without angle brackets (RFC 2045 section 7), which some senders leave out. White space where it was folded does not
 * belong to it; white space inside does, for the HTML refers to it as the sender wrote it.
 */
function contentIdOf(folded: string | null): string | null {
  if (folded === null) return null;
  // Each run of white space once: an expression that begins before the line end takes quadratic time.
  const unfolded = folded.replace(/[ \t\n]+/g, blanks => (blanks.includes('\n') ? '' : blanks));
  const text = cleanText(decodeRawValue(unfolded));
  const bracketed = /<([^<>]*)>/.exec(text);
  return (bracketed?.[1] ?? text).trim().slice(0, MAX_LINE_OCTETS) || null;
}

/**
 * A parameter as text. The extended and continued forms of RFC 2231 (sections 3 and 4) have precedence over the plain
 * one. The plain form may have encoded words: RFC 2047 section 5 forbids them, but senders use them.
 */
function parameterText(header: StructuredHeader, attribute: string): string | null {
  const extended = header.parameters.get(`${attribute}*`);
  if (extended !== undefined) return decodeExtended([{ text: extended, isEncoded: true }]);
  const pieces = continuedPieces(header, attribute);
  if (pieces.some(piece => piece.isEncoded)) return decodeExtended(pieces);
  const plain =
    pieces.length > 0 ? pieces.map(piece => piece.text).join('') : header.parameters.get(attribute);
  return plain === undefined ? null : decodeEncodedWords(decodeRawValue(plain));
}

/** A parameter that is an ASCII token, such as charset or boundary, not decoded. */
function parameterToken(header: StructuredHeader, attribute: string): string | null {
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

/** The pieces `name*0`, `name*1*`, ... up to the first that is missing (RFC 2231 section 3). */
function continuedPieces(header: StructuredHeader, attribute: string): readonly ParameterPiece[] {
  const pieces: ParameterPiece[] = [];
  for (let index = 0; ; index++) {
    const encoded = header.parameters.get(`${attribute}*${index}*`);
    const text = encoded ?? header.parameters.get(`${attribute}*${index}`);
    if (text === undefined) return pieces;
    pieces.push({ text, isEncoded: encoded !== undefined });
  }
}

/** Joins the bytes of all pieces before decoding, since a character may be split between two. */
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
