import { createHash } from 'node:crypto';
import type { EncodedFile } from '../../domain/message-parts.js';
import { inTurns } from '../../lib/slices.js';
import { decodeTransfer } from '../../mail/read/transfer-encoding.js';
import type { Store } from '../../store/engine/store.js';
import type { AttachmentPlace, ReceivedRecord } from '../../store/mailbox/messages.js';
import { BlobMissingError, type BlobRef, readBlob } from '../../store/records/blobs.js';
import { type ByteStream, contentUnavailable, openBlob, readWhole } from './contents.js';

/** Bytes of an attachment once it is decoded. */
export function sizeOfAttachment(place: AttachmentPlace): number {
  return 'blob' in place ? place.blob.size : place.size;
}

/**
 * The decoded bytes of an attachment, to be sent to a client. When they turn out not to be those that were received, the
 * last of them are not given: an answer of one piece is an error, a longer one is cut off.
 * @throws content_unavailable, at once or while they are read
 */
export function openAttachmentBytes(
  store: Store,
  { raw }: ReceivedRecord,
  place: AttachmentPlace,
): ByteStream {
  if ('blob' in place) return openBlob(store, place.blob);
  return { size: place.size, bytes: decodedBytes(store, raw, place) };
}

/** The decoded bytes of an attachment of modest size. @throws content_unavailable */
export async function readAttachment(
  store: Store,
  { raw }: ReceivedRecord,
  place: AttachmentPlace,
): Promise<Buffer> {
  if ('blob' in place) return readWhole(store, place.blob);
  const pieces: Uint8Array[] = [];
  for await (const piece of decodedBytes(store, raw, place)) pieces.push(piece);
  return Buffer.concat(pieces, place.size);
}

async function* decodedBytes(
  store: Store,
  raw: BlobRef,
  { start, length, encoding, size, sha256 }: EncodedFile,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256');
  let decoded = 0;
  let last: Uint8Array | null = null;
  try {
    const encoded = inTurns(readBlob(store, raw, start, start + length));
    for await (const piece of decodeTransfer(encoding, encoded)) {
      hash.update(piece);
      decoded += piece.length;
      if (last !== null) yield last;
      last = piece;
    }
  } catch (error) {
    throw error instanceof BlobMissingError ? contentUnavailable() : error;
  }
  if (decoded !== size || hash.digest('base64url') !== sha256) throw contentUnavailable();
  if (last !== null) yield last;
}
