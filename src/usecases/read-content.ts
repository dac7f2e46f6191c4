import type { ReceivedContent } from '../domain/content.js';
import { BlobMissingError, readBlob } from '../store/blob-reader.js';
import { contentsTable, type ReceivedRecord } from '../store/messages.js';
import type { Store } from '../store/store.js';

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
