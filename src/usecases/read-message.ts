import { fail, notFound, ok, type Result } from '../domain/errors.js';
import { readBlob } from '../store/blob-reader.js';
import { type BlobRef, getChunk } from '../store/blobs.js';
import { contentsTable, type ReceivedRecord } from '../store/messages.js';
import type { Store } from '../store/store.js';
import { type ByteStream, inMemory, joinStreams } from './byte-stream.js';
import { type MessageInput, ownedMessage, receivedMessages } from './message-access.js';
import { detailFields } from './received-view.js';
import { withShownThread } from './shown-thread.js';

type Deps = { readonly store: Store };

/** A file to download. */
export interface Download extends ByteStream {
  /** Suggested file name; null when there is none that is safe. */
  readonly filename: string | null;
}

const MISSING = fail('content_unavailable', 'The stored content cannot be read right now. Retry later.');

/** The detail of a message as JSON bytes: `content` only when it is ready (specification). */
export function getMessageDetail(deps: Deps, input: MessageInput): Result<ByteStream> {
  const owned = deps.store.read(reader => {
    const found = ownedMessage(reader, receivedMessages, input.accountId, input.messageId);
    return found.ok ? ok(withShownThread(reader, found.value)) : found;
  });
  if (!owned.ok) return owned;
  const fields = JSON.stringify(detailFields(owned.value));
  if (owned.value.content === null) return ok(inMemory([Buffer.from(fields)]));
  const content = openContent(deps, owned.value);
  if (!content.ok) return content;
  const head = Buffer.from(`${fields.slice(0, -1)},"content":`);
  const tail = Buffer.from('}');
  return ok(joinStreams([inMemory([head]), content.value, inMemory([tail])]));
}

/** The original bytes, in any processing state. */
export function openRawMessage(deps: Deps, input: MessageInput): Result<Download> {
  const owned = deps.store.read(reader =>
    ownedMessage(reader, receivedMessages, input.accountId, input.messageId),
  );
  if (!owned.ok) return owned;
  const blob = openBlob(deps, owned.value.raw);
  return blob.ok ? ok({ ...blob.value, filename: `${owned.value.id}.eml` }) : blob;
}

/** The decoded bytes of one attachment of a ready message; `not_found` while it is not ready. */
export function openAttachment(
  deps: Deps,
  input: MessageInput & { readonly attachmentId: string },
): Result<Download> {
  const owned = deps.store.read(reader =>
    ownedMessage(reader, receivedMessages, input.accountId, input.messageId),
  );
  if (!owned.ok) return owned;
  const place = owned.value.attachments.find(attachment => attachment.id === input.attachmentId);
  if (place === undefined) return notFound('attachment');
  const blob = openBlob(deps, place.blob);
  return blob.ok ? ok({ ...blob.value, filename: place.filename }) : blob;
}

function openContent(deps: Deps, record: ReceivedRecord): Result<ByteStream> {
  if (record.content?.in === 'blob') return openBlob(deps, record.content.blob);
  const bytes = deps.store.read(reader => reader.get(contentsTable, record.id));
  return bytes === undefined ? MISSING : ok(inMemory([bytes]));
}

/** Looks at the first chunk, so that missing bytes are told by status before anything is sent. */
function openBlob(deps: Deps, ref: BlobRef): Result<ByteStream> {
  const first = deps.store.read(reader => getChunk(reader, ref.id, 0));
  if (first === undefined) return MISSING;
  return ok(
    first.length === ref.size ? inMemory([first]) : { size: ref.size, bytes: readBlob(deps.store, ref) },
  );
}
