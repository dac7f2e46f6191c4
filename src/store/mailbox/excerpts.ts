import { EXCERPT_VERSION, type KeptExcerpt, NO_EXCERPT } from '../../domain/excerpts/kept-excerpt.js';
import { idToBytes, type MessageId } from '../../domain/ids.js';
import { type ExcerptProgress, getMeta, putMeta } from '../engine/meta.js';
import type { Reader, Table, Writer } from '../engine/tables.js';

const LENGTH_BYTES = 2;

/** Message, received or sent -> its excerpt. None of a received message that is not ready. */
export const excerptsTable: Table<MessageId, KeptExcerpt> = {
  name: 'excerpts',
  encodeKey: idToBytes,
  encodeValue: ({ preview, newWords }) => {
    const length = Buffer.byteLength(preview);
    const bytes = Buffer.allocUnsafe(LENGTH_BYTES + length + Buffer.byteLength(newWords));
    bytes.writeUInt16BE(length, 0);
    bytes.write(preview, LENGTH_BYTES);
    bytes.write(newWords, LENGTH_BYTES + length);
    return bytes;
  },
  decodeValue: bytes => {
    const end = LENGTH_BYTES + bytes.readUIntBE(0, LENGTH_BYTES);
    return {
      preview: bytes.toString('utf8', LENGTH_BYTES, end),
      newWords: bytes.toString('utf8', end, bytes.length),
    };
  },
};

/** The same read only as far as lists show it. */
const previewsTable: Table<MessageId, string> = {
  name: excerptsTable.name,
  encodeKey: idToBytes,
  encodeValue: () => {
    throw new Error('a preview is not written without its excerpt');
  },
  decodeValue: bytes =>
    bytes.toString('utf8', LENGTH_BYTES, LENGTH_BYTES + bytes.readUIntBE(0, LENGTH_BYTES)),
};

/** The preview of a message as JSON; `null` while there is none. */
export function previewJson(reader: Reader, id: MessageId): string {
  return reader.get(previewsTable, id) ?? NO_EXCERPT.preview;
}

/** The new words of a message as they are kept; `null` while there are none. */
export function storedNewWords(reader: Reader, id: MessageId): KeptExcerpt['newWords'] {
  return reader.get(excerptsTable, id)?.newWords ?? NO_EXCERPT.newWords;
}

export function putExcerpt(writer: Writer, id: MessageId, excerpt: KeptExcerpt): void {
  writer.put(excerptsTable, id, excerpt);
}

export function removeExcerpt(writer: Writer, id: MessageId): void {
  writer.remove(excerptsTable, id);
}

/** How far the excerpts of mail from before have been made. */
export function getExcerptProgress(reader: Reader): ExcerptProgress {
  const progress = getMeta(reader, 'excerpts');
  return progress?.version === EXCERPT_VERSION
    ? progress
    : { version: EXCERPT_VERSION, kind: 'received', position: null };
}

export function putExcerptProgress(writer: Writer, progress: ExcerptProgress): void {
  putMeta(writer, 'excerpts', progress);
}

/** Has every message that is ready its excerpt? */
export function hasAllExcerpts(reader: Reader): boolean {
  return getExcerptProgress(reader).kind === null;
}
