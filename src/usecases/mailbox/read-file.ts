import { notFound, refuse } from '../../domain/errors.js';
import type { AccountId } from '../../domain/ids.js';
import { inTurns } from '../../lib/slices.js';
import type { Store } from '../../store/engine/store.js';
import type { FilePlace } from '../../store/mailbox/messages.js';
import { BlobMissingError } from '../../store/records/blobs.js';
import { locateDraft } from '../drafts/read-draft.js';
import { openAttachmentBytes } from '../shared/attachments.js';
import { type ByteStream, contentUnavailable, openBlob } from '../shared/contents.js';
import { find, type Wanted } from './message-access.js';

/** Which file is meant; text from outside. */
export interface FileInput {
  readonly accountId: AccountId;
  /** Id of a message, received or sent, or of a draft. */
  readonly messageId: string;
  readonly attachmentId: string;
}

const RECEIVED: Wanted<'received'> = { kinds: ['received'], trash: 'live' };
const SENT: Wanted<'sent'> = { kinds: ['sent'], trash: 'live' };

/**
 * The bytes of a file of a message or a draft.
 * @throws `not_found`, `content_unavailable`
 */
export function openFile({ store }: { readonly store: Store }, input: FileInput): ByteStream {
  return store.read(reader => {
    const received = find(reader, input, input.messageId, RECEIVED);
    if (received !== null) {
      const place = received.attachments.find(({ id }) => id === input.attachmentId);
      if (place === undefined) throw notFound('attachment');
      return openAttachmentBytes(store, received, place);
    }
    const sent = find(reader, input, input.messageId, SENT);
    const { files } = sent ?? locateDraft(reader, { ...input, draftId: input.messageId }).draft;
    return openBlob(store, fileOf(files, input.attachmentId).blob);
  });
}

function fileOf(files: readonly FilePlace[], wanted: string): FilePlace {
  const file = files.find(({ id }) => id === wanted);
  if (file === undefined) throw notFound('attachment');
  return file;
}

/** A part of a file. */
export interface Part {
  readonly bytes: Buffer;
  /** Where the next one begins; null at the end. */
  readonly next: number | null;
}

/**
 * Reads a part of a file, other work going on in between. What stands before the part is read and thrown away where an
 * attachment is decoded on the way.
 * @param offset the first byte; that behind the last one gives an empty part
 * @throws `invalid_request` beyond that, `content_unavailable`
 */
export async function readPart(
  { size, bytes, range }: ByteStream,
  offset: number,
  maxBytes: number,
): Promise<Part> {
  if (offset > size) throw refuse('invalid_request', `offset must be at most ${size}, the size of the file.`);
  const end = Math.min(size, offset + maxBytes);
  const parts: Uint8Array[] = [];
  let at = range === undefined ? 0 : offset;
  const source = range?.(offset, end) ?? bytes;
  try {
    for await (const part of Array.isArray(source) ? source : inTurns(source as AsyncIterable<Uint8Array>)) {
      const [from, to] = [Math.max(offset - at, 0), Math.min(end - at, part.length)];
      if (from < to) parts.push(part.subarray(from, to));
      at += part.length;
      if (at >= end && end < size) break;
    }
  } catch (error) {
    if (error instanceof BlobMissingError) throw contentUnavailable();
    throw error;
  }
  return { bytes: Buffer.concat(parts), next: end < size ? end : null };
}
