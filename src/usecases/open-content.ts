import { fail, ok, type Result } from '../domain/errors.js';
import type { MessageId } from '../domain/ids.js';
import { readBlob } from '../store/blob-reader.js';
import { blobChunksTable } from '../store/blobs.js';
import type { ContentPlace } from '../store/messages.js';
import type { Store } from '../store/store.js';
import type { Table } from '../store/table.js';
import type { ByteStream } from './byte-stream.js';
import { inMemory } from './byte-stream.js';

const CONTENT_UNAVAILABLE = fail(
  'content_unavailable',
  'The stored content cannot be read right now. Retry later.',
);

/** A longer content is read when its turn has come, so that a page of a hundred holds little in memory. */
const HELD_BYTES = 8 * 1024;

/** The content of one message among several, as the JSON bytes that the store keeps. */
export function openContent(
  store: Store,
  table: Table<MessageId, Buffer>,
  id: MessageId,
  place: ContentPlace,
): Result<ByteStream> {
  if (place.in === 'blob') {
    const { blob } = place;
    const isThere = store.read(reader => reader.has(blobChunksTable, { id: blob.id, index: 0 }));
    return isThere ? ok({ size: blob.size, bytes: readBlob(store, blob) }) : CONTENT_UNAVAILABLE;
  }
  const bytes = store.read(reader => reader.get(table, id));
  if (bytes === undefined) return CONTENT_UNAVAILABLE;
  const { length } = bytes;
  return ok(
    length <= HELD_BYTES ? inMemory([bytes]) : { size: length, bytes: readLater(store, table, id, length) },
  );
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
