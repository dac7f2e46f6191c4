import type { ReceivedContent } from '../../contract/messages.js';
import { type Refusal, refuse } from '../../domain/errors.js';
import { type KeptExcerpt, NO_EXCERPT, placesOf } from '../../domain/excerpts/kept-excerpt.js';
import type { OutgoingFile } from '../../domain/message-parts.js';
import { inTurns, pauseIfLong } from '../../lib/slices.js';
import type { Store } from '../../store/engine/store.js';
import type { FilePlace, SentBodies } from '../../store/mailbox/messages.js';
import {
  BlobMissingError,
  type BlobRef,
  blobChunksTable,
  CHUNK_BYTES,
  chunkCount,
  getChunk,
  readBlob,
} from '../../store/records/blobs.js';

/** Stored bytes are missing or not whole: damage, or they were deleted while they were read. */
export function contentUnavailable(): Refusal {
  return refuse(
    'content_unavailable',
    'The stored content cannot be read right now; nothing was changed. Retry later.',
  );
}

/** Bytes of known length, in memory or as they are read. */
export interface ByteStream {
  readonly size: number;
  readonly bytes: readonly Uint8Array[] | AsyncIterable<Uint8Array>;
  /** Those from `start` up to but not including `end`, where nothing else has to be read for them. */
  readonly range?: (start: number, end: number) => AsyncIterable<Uint8Array>;
}

/**
 * A blob to be sent to a client. Reads its first chunk at once, so that missing bytes give an error status; when a
 * later chunk is missing the response is cut off.
 * @param heldBytes a longer one is read when its turn has come, so that a page of a hundred holds little in memory
 * @throws content_unavailable
 */
export function openBlob(store: Store, ref: BlobRef, heldBytes = CHUNK_BYTES): ByteStream {
  if (ref.size > heldBytes) {
    checkThere(store, [ref]);
    const range = (start: number, end: number) => readBlob(store, ref, start, end);
    return { size: ref.size, bytes: readBlob(store, ref), range };
  }
  const only = store.read(reader => getChunk(reader, ref.id, 0));
  if (only?.length !== ref.size) throw contentUnavailable();
  return inMemory([only]);
}

/**
 * The content of a ready message as its detail shows it (`getMessage`, `getThread`), to be sent to a client. It is stored
 * without `reply_text`, which takes the place of the brace that begins it.
 * @param newWords as they are kept
 * @param heldBytes as for `openBlob`
 * @throws content_unavailable
 */
export function openContent(
  store: Store,
  ref: BlobRef,
  newWords: KeptExcerpt['newWords'],
  heldBytes = CHUNK_BYTES,
): ByteStream {
  const content = openBlob(store, ref, heldBytes);
  const { size, bytes } = content;
  const rest = isInMemory(bytes)
    ? bytes.map((part, at) => part.subarray(at === 0 ? 1 : 0))
    : withoutFirst(bytes);
  return joinStreams([
    inMemory([REPLY_TEXT]),
    openNewWords(store, ref, content, newWords),
    inMemory([COMMA]),
    { size: size - 1, bytes: rest },
  ]);
}

const REPLY_TEXT = Buffer.from('{"reply_text":');
const COMMA = Buffer.from(',');
const QUOTE = Buffer.from('"');

/**
 * The new words of a message in JSON: pieces of the JSON of its content, or as they are kept.
 * @param content what `openBlob` gave for its content
 */
export function openNewWords(
  store: Store,
  ref: BlobRef,
  { bytes }: ByteStream,
  newWords: KeptExcerpt['newWords'],
): ByteStream {
  const places = placesOf(newWords);
  if (places === null) return text(newWords);
  // Damage, or a content that is not the one they were made for.
  if (places.some(([start, end]) => start > end || end > ref.size)) return text(NO_EXCERPT.newWords);
  const only = isInMemory(bytes) ? bytes[0] : undefined;
  const pieces = places.map(([start, end]) => ({
    size: end - start,
    bytes: only === undefined ? readBlob(store, ref, start, end) : [only.subarray(start, end)],
  }));
  return joinStreams([inMemory([QUOTE]), ...pieces, inMemory([QUOTE])]);
}

async function* withoutFirst(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const part of bytes) {
    yield isFirst ? part.subarray(1) : part;
    isFirst = false;
  }
}

/** Refuses when the first chunk of one of these is missing. */
function checkThere(store: Store, refs: readonly BlobRef[]): void {
  const isThere = store.read(reader => refs.every(({ id }) => reader.has(blobChunksTable, { id, index: 0 })));
  if (!isThere) throw contentUnavailable();
}

/**
 * A blob of modest size in one piece. Many long ones that are wanted at once are read one after the other, so that they
 * hold the event loop no longer than one does.
 * @throws content_unavailable
 */
export async function readWhole(store: Store, ref: BlobRef): Promise<Buffer> {
  await pauseIfLong(ref.size);
  const parts = await takeChunks(store, ref, () => false);
  const [only] = parts;
  await pauseIfLong(ref.size);
  const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
  if (bytes.length !== ref.size) throw contentUnavailable();
  return bytes;
}

/** The chunks of a blob up to and including the first one at which `isEnough` is true. */
async function takeChunks(
  store: Store,
  ref: BlobRef,
  isEnough: (parts: readonly Buffer[]) => boolean,
): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  try {
    const chunks = readBlob(store, ref);
    for await (const part of ref.size > CHUNK_BYTES ? inTurns(chunks) : chunks) {
      parts.push(part);
      if (isEnough(parts)) break;
    }
  } catch (error) {
    if (error instanceof BlobMissingError) throw contentUnavailable();
    throw error;
  }
  return parts;
}

/** The first bytes of a blob: so many, and the rest of their chunk. @throws content_unavailable */
export async function readStart(store: Store, ref: BlobRef, bytes: number): Promise<Buffer> {
  let read = 0;
  const parts = await takeChunks(store, ref, taken => {
    read += taken.at(-1)?.length ?? 0;
    return read >= bytes;
  });
  return Buffer.concat(parts);
}

/** A text in UTF-8. @throws content_unavailable */
export async function readText(store: Store, ref: BlobRef): Promise<string> {
  return (await readWhole(store, ref)).toString('utf8');
}

/** Text and HTML of a sent message. @throws content_unavailable */
export async function readSentBodies(store: Store, content: BlobRef): Promise<SentBodies> {
  return (await readJson(store, content)) as SentBodies;
}

/** The whole content of a ready message. @throws content_unavailable */
export async function readContent(store: Store, content: BlobRef): Promise<ReceivedContent> {
  return (await readJson(store, content)) as ReceivedContent;
}

async function readJson(store: Store, ref: BlobRef): Promise<unknown> {
  const text = await readText(store, ref);
  await pauseIfLong(text.length);
  return JSON.parse(text);
}

/** Files with their bytes. @throws content_unavailable */
export async function readFiles(store: Store, places: readonly FilePlace[]): Promise<OutgoingFile[]> {
  const files: OutgoingFile[] = [];
  for (const { id: _id, blob, ...description } of places) {
    files.push({ ...description, bytes: await readWhole(store, blob) });
  }
  return files;
}

/** What the header of a ready message says; the fields of its content before the texts. */
export type ContentHeader = Omit<ReceivedContent, 'text' | 'html' | 'attachments'>;

/**
 * A quote within a value is escaped, so that these bytes stand only before the field itself; the fields before it are
 * those of the header (src/contract has the order).
 */
const TEXT_FIELD = ',"text":';

/**
 * The header of a ready message, without reading texts that may be long.
 * @throws content_unavailable
 */
export async function readContentHeader(store: Store, content: BlobRef): Promise<ContentHeader> {
  let start = Buffer.alloc(0);
  let end = -1;
  await takeChunks(store, content, parts => {
    start = Buffer.concat(parts);
    end = start.indexOf(TEXT_FIELD);
    return end >= 0;
  });
  if (end < 0) throw contentUnavailable();
  return JSON.parse(`${start.toString('utf8', 0, end)}}`) as ContentHeader;
}

/** As with `TEXT_FIELD`: the list of files is the last field of a content. */
const FILES_FIELD = ',"attachments":[';

/**
 * The list of files of a ready message, without reading texts that may be long.
 * @throws content_unavailable
 */
export async function readFileList(store: Store, content: BlobRef): Promise<ReceivedContent['attachments']> {
  let tail: Buffer = Buffer.alloc(0);
  for (let index = chunkCount(content.size) - 1; index >= 0; index--) {
    const chunk = store.read(reader => getChunk(reader, content.id, index));
    if (chunk === undefined) break;
    tail = Buffer.concat([chunk, tail]);
    const at = tail.lastIndexOf(FILES_FIELD);
    // Without the brace that ends the content.
    if (at >= 0) return JSON.parse(tail.toString('utf8', at + FILES_FIELD.length - 1, tail.length - 1));
  }
  throw contentUnavailable();
}

/** An object's JSON without its braces, to be joined with other members. */
export function membersOf({ size, bytes }: ByteStream): ByteStream {
  return { size: size - 2, bytes: withoutEnds(bytes, size) };
}

async function* withoutEnds(bytes: ByteStream['bytes'], size: number): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const part of bytes) {
    const start = at === 0 ? 1 : 0;
    const end = Math.min(part.length, size - 1 - at);
    at += part.length;
    if (end > start) yield part.subarray(start, end);
  }
}

export function inMemory(parts: readonly Uint8Array[]): ByteStream {
  return { size: parts.reduce((sum, part) => sum + part.length, 0), bytes: parts };
}

/** What is shorter goes out in one piece. */
const ONE_PIECE_BYTES = 128 * 1024;

/** One stream of several. */
export function joinStreams(streams: readonly ByteStream[]): ByteStream {
  const size = streams.reduce((sum, stream) => sum + stream.size, 0);
  const parts: Uint8Array[] = [];
  for (const { bytes } of streams) {
    if (!isInMemory(bytes)) return { size, bytes: inTurn(streams.map(stream => stream.bytes)) };
    parts.push(...bytes);
  }
  return { size, bytes: size <= ONE_PIECE_BYTES ? [Buffer.concat(parts, size)] : parts };
}

function isInMemory(bytes: ByteStream['bytes']): bytes is readonly Uint8Array[] {
  return Array.isArray(bytes);
}

async function* inTurn(parts: readonly ByteStream['bytes'][]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield* part;
}

/**
 * Of keys outside the bodies only this one is followed by an empty list; within a string the quotes would be
 * escaped.
 */
const NO_FILES = '"attachments":[]';

/**
 * Puts the files, which are not held in memory, where the list of them stands empty.
 * @throws content_unavailable
 */
export function fillInFiles(json: string, files: readonly FilePlace[], store: Store): ByteStream {
  if (files.length === 0) return inMemory([Buffer.from(json)]);
  checkThere(
    store,
    files.map(({ blob }) => blob),
  );
  const at = json.lastIndexOf(NO_FILES) + NO_FILES.length - 1;
  const streams = files.flatMap((file, index) => [text(index === 0 ? '' : ','), ...encodedFile(store, file)]);
  return joinStreams([text(json.slice(0, at)), ...streams, text(json.slice(at))]);
}

function encodedFile(store: Store, file: FilePlace): ByteStream[] {
  const { filename, type, disposition, contentId, blob } = file;
  const head = JSON.stringify({ filename, type, content: '' }).slice(0, -2);
  const rest = JSON.stringify(contentId === undefined ? { disposition } : { disposition, contentId });
  return [
    text(head),
    { size: 4 * Math.ceil(blob.size / 3), bytes: base64Of(store, file) },
    text(`",${rest.slice(1)}`),
  ];
}

/** Chunks are whole groups of three bytes long (`store/records/blobs.ts`), so that only the last one is padded. */
async function* base64Of(store: Store, { blob }: FilePlace): AsyncGenerator<Uint8Array> {
  for await (const chunk of readBlob(store, blob)) yield Buffer.from(chunk.toString('base64'), 'latin1');
}

function text(json: string): ByteStream {
  return inMemory([Buffer.from(json, 'utf8')]);
}
