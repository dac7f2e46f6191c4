import { recipientsOf, sendersOf } from '../domain/addresses.js';
import { receivedExcerpt } from '../domain/excerpts/excerpts-of-content.js';
import { type KeptExcerpt, NO_EXCERPT } from '../domain/excerpts/kept-excerpt.js';
import { joinWords, messageWordsAtOnce } from '../domain/message-words.js';
import { asBuffer } from '../lib/bytes.js';
import { atOnce, piecesOfText } from '../lib/slices.js';
import type { ParsedMessage } from '../mail/read/limits.js';
import type { PreparedContent } from '../usecases/ports.js';

type Prepared = PreparedContent & { readonly json: Uint8Array<ArrayBuffer> };

/** Prepares a parsed message for the main thread: JSON bytes in a transferable buffer, and the values to index. */
export function prepareContent({ content, files, ids, report }: ParsedMessage): Prepared {
  const json = encodeJson(content);
  return {
    json,
    excerpt: excerptIn(json, content),
    subject: content.subject,
    messageId: content.message_id,
    from: content.from,
    senders: sendersOf(content),
    recipients: recipientsOf(content),
    attachments: files,
    ids,
    report,
    words: joinWords(messageWordsAtOnce(content)),
  };
}

/** A mistake of ours costs the excerpt, not the message. */
function excerptIn(json: Uint8Array, content: ParsedMessage['content']): KeptExcerpt {
  try {
    return atOnce(receivedExcerpt(asBuffer(json), content));
  } catch {
    return NO_EXCERPT;
  }
}

/** How many UTF-16 units of a long text are encoded at once; at least two, for a surrogate pair. */
const PIECE = 64 * 1024;
/** Content with a text of more UTF-16 units than this is encoded in pieces, which takes two passes. */
const LONG = 1024 * 1024;

/**
 * The bytes of `JSON.stringify(content)`. Long texts are encoded in pieces: escapes can make them six times as long,
 * and when V8 cannot allocate such a string at once it ends the whole process, not only the thread.
 */
export function encodeJson(content: object, pieceLength = PIECE, longLength = LONG): Uint8Array<ArrayBuffer> {
  const values: unknown[] = Object.values(content);
  if (!values.some(value => isLong(value, longLength))) {
    return encodeText(JSON.stringify(content));
  }
  let size = 0;
  for (const piece of jsonPieces(content, pieceLength)) size += Buffer.byteLength(piece, 'utf8');
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const piece of jsonPieces(content, pieceLength)) at += bytes.write(piece, at, 'utf8');
  return ownBytes(bytes);
}

/** Where texts are encoded, because their length in UTF-8 is known only then; used again for each. */
const DRAFT = Buffer.allocUnsafeSlow(256 * 1024);
/** Most bytes of UTF-8 for one UTF-16 unit (RFC 3629 section 3). */
const MAX_UNIT_BYTES = 3;

function encodeText(text: string): Uint8Array<ArrayBuffer> {
  if (text.length * MAX_UNIT_BYTES > DRAFT.length) return ownBytes(Buffer.from(text, 'utf8'));
  return new Uint8Array(DRAFT.subarray(0, DRAFT.write(text, 'utf8')));
}

function isLong(value: unknown, pieceLength: number): value is string {
  return typeof value === 'string' && value.length > pieceLength;
}

function* jsonPieces(content: object, pieceLength: number): Generator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(content)) {
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (isLong(value, pieceLength)) yield* textPieces(value, pieceLength);
    else yield JSON.stringify(value);
  }
  yield '}';
}

function* textPieces(text: string, pieceLength: number): Generator<string> {
  yield '"';
  for (const piece of piecesOfText(text, pieceLength)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

/** The same bytes in a buffer of their own, which can be transferred: without copying if they fill theirs. */
function ownBytes(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const isOwn = chunk.buffer instanceof ArrayBuffer && chunk.byteLength === chunk.buffer.byteLength;
  if (isOwn) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return new Uint8Array(chunk);
}
