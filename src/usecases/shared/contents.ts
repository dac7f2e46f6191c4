import type { ReceivedContent } from '../../contract/messages.js';
import { refuse } from '../../domain/errors.js';
import type { MessageId } from '../../domain/ids.js';
import type { OutgoingFile } from '../../domain/message-parts.js';
import type { Store } from '../../store/engine/store.js';
import type { Table } from '../../store/engine/tables.js';
import {
  type ContentPlace,
  contentsTable,
  type FilePlace,
  type ReceivedRecord,
  type SentBodies,
  type SentRecord,
  sentContentsTable,
} from '../../store/mailbox/messages.js';

import { BlobMissingError, type BlobRef, blobChunksTable, readBlob } from '../../store/records/blobs.js';

const CONTENT_UNAVAILABLE = () =>
  refuse('content_unavailable', 'The stored content cannot be read right now. Retry later.');

/** A longer content is read when its turn has come, so that a page of a hundred holds little in memory. */
const HELD_BYTES = 8 * 1024;

/** The content of one message among several, as the JSON bytes that the store keeps. */
export function openContent(
  store: Store,
  table: Table<MessageId, Buffer>,
  id: MessageId,
  place: ContentPlace,
): ByteStream {
  if (place.in === 'blob') {
    const { blob } = place;
    const isThere = store.read(reader => reader.has(blobChunksTable, { id: blob.id, index: 0 }));
    if (!isThere) throw CONTENT_UNAVAILABLE();
    return { size: blob.size, bytes: readBlob(store, blob) };
  }
  const bytes = store.read(reader => reader.get(table, id));
  if (bytes === undefined) throw CONTENT_UNAVAILABLE();
  const { length } = bytes;
  return length <= HELD_BYTES
    ? inMemory([bytes])
    : { size: length, bytes: readLater(store, table, id, length) };
}

/** @throws ContentChangedError when the message is deleted or parsed again before its turn comes */
async function* readLater(
  store: Store,
  table: Table<MessageId, Buffer>,
  id: MessageId,
  size: number,
): AsyncGenerator<Buffer> {
  const bytes = store.read(reader => reader.get(table, id));
  if (bytes?.length !== size) throw new ContentChangedError(id);
  yield bytes;
}

/** What had been promised is not there any more: the answer under way cannot be completed. */
class ContentChangedError extends Error {
  constructor(id: MessageId) {
    super(`the content of message ${id} went while it was read`);
    this.name = 'ContentChangedError';
  }
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

/** Bytes of known length, in memory or as they are read. */
export interface ByteStream {
  readonly size: number;
  readonly bytes: readonly Uint8Array[] | AsyncIterable<Uint8Array>;
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

/** What the header of a ready message says; the fields of its content before the texts. */
export type ContentHeader = Omit<ReceivedContent, 'text' | 'html' | 'attachments'>;

/**
 * A quote within a value is escaped, so that these bytes stand only before the field itself; the fields before
 * it are those of the header (`domain/content.ts` has the order).
 */
const TEXT_FIELD = ',"text":';

/**
 * The header of a ready message, without reading texts that may be long.
 * @returns null when the content is missing
 */
export async function readContentHeader(store: Store, record: ReceivedRecord): Promise<ContentHeader | null> {
  const parts: Buffer[] = [];
  for await (const part of contentParts(store, record)) {
    parts.push(part);
    const start = Buffer.concat(parts);
    const end = start.indexOf(TEXT_FIELD);
    if (end >= 0) return JSON.parse(`${start.toString('utf8', 0, end)}}`) as ContentHeader;
  }
  return null;
}

/**
 * The whole content of a ready message.
 * @returns null when it is missing, `too_long` when it has more than `maxBytes` of JSON
 */
export async function readContent(
  store: Store,
  record: ReceivedRecord,
  maxBytes: number,
): Promise<ReceivedContent | 'too_long' | null> {
  if (record.content?.in === 'blob' && record.content.blob.size > maxBytes) return 'too_long';
  const parts: Buffer[] = [];
  for await (const part of contentParts(store, record)) parts.push(part);
  const json = Buffer.concat(parts);
  const isWhole = record.content?.in !== 'blob' || json.length === record.content.blob.size;
  return json.length > 0 && isWhole ? (JSON.parse(json.toString('utf8')) as ReceivedContent) : null;
}

/** The JSON bytes in order; they end early where a part is missing. */
async function* contentParts(store: Store, record: ReceivedRecord): AsyncGenerator<Buffer> {
  if (record.content?.in === 'blob') {
    try {
      yield* readBlob(store, record.content.blob);
    } catch (error) {
      if (!(error instanceof BlobMissingError)) throw error;
    }
    return;
  }
  const bytes = store.read(reader => reader.get(contentsTable, record.id));
  if (bytes !== undefined) yield bytes;
}

/** A blob of known, modest size in one piece; null when a part of it is missing. */
export async function readWholeBlob(store: Store, ref: BlobRef): Promise<Buffer | null> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of readBlob(store, ref)) parts.push(part);
  } catch (error) {
    if (error instanceof BlobMissingError) return null;
    throw error;
  }
  return Buffer.concat(parts, ref.size);
}

/**
 * Of keys outside the bodies only this one is followed by an empty list; within a string the quotes would be
 * escaped.
 */
const NO_FILES = '"attachments":[]';

/** Puts the files, which are not held in memory, where the list of them stands empty. */
export function fillInFiles(json: string, files: readonly FilePlace[], store: Store): ByteStream {
  if (files.length === 0) return inMemory([Buffer.from(json)]);
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

/** Chunks are whole groups of three bytes long (`store/blobs.ts`), so that only the last one is padded. */
async function* base64Of(store: Store, { blob }: FilePlace): AsyncGenerator<Uint8Array> {
  for await (const chunk of readBlob(store, blob)) yield Buffer.from(chunk.toString('base64'), 'latin1');
}

function text(json: string): ByteStream {
  return inMemory([Buffer.from(json, 'utf8')]);
}

/** Text and HTML of a sent message; null when they are missing. */
export async function readSentBodies(
  store: Store,
  { id, content }: Pick<SentRecord, 'id' | 'content'>,
): Promise<SentBodies | null> {
  const json =
    content.in === 'blob'
      ? await readWholeBlob(store, content.blob)
      : store.read(reader => reader.get(sentContentsTable, id));
  return json === null || json === undefined ? null : (JSON.parse(json.toString('utf8')) as SentBodies);
}

/** The files of a draft or a sent message with their bytes; null when some are missing. */
export async function readFiles(store: Store, places: readonly FilePlace[]): Promise<OutgoingFile[] | null> {
  const files: OutgoingFile[] = [];
  for (const { id: _id, blob, ...description } of places) {
    const bytes = await readWholeBlob(store, blob);
    if (bytes === null) return null;
    files.push({ ...description, bytes });
  }
  return files;
}
