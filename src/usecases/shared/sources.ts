import { MAX_MESSAGE_BYTES } from '../../contract/limits.js';
import { notFound, Refusal, refuse } from '../../domain/errors.js';
import {
  type DerivedForward,
  deriveForward,
  type ForwardSource,
  sentAsForwardSource,
} from '../../domain/forward.js';
import { type InboxId, type MessageId, toId } from '../../domain/ids.js';
import { type ReplyParent, replyHeaders } from '../../domain/message-ids.js';
import type { OutgoingBody, OutgoingFile, ReplyTarget } from '../../domain/message-parts.js';
import type { ReplySource } from '../../domain/reply.js';
import { contentBytes, type NormalForward, tooLarge } from '../../domain/send-input.js';
import { inSlices } from '../../lib/slices.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import {
  getMessage,
  getSent,
  knownIdOf,
  type MessageRecord,
  type ReceivedRecord,
  type SentRecord,
} from '../../store/mailbox/messages.js';
import type { BlobRef } from '../../store/records/blobs.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import { readAttachment, sizeOfAttachment } from './attachments.js';
import {
  type ContentHeader,
  contentUnavailable,
  readContent,
  readContentHeader,
  readSentBodies,
  readWhole,
} from './contents.js';
import type { Hand } from './in-hand.js';

/** A message of the sending inbox that is answered or forwarded: ready, if received; accepted, if sent. */
export type MessageSource =
  | {
      readonly kind: 'received';
      readonly record: ReceivedRecord;
      readonly content: BlobRef;
      readonly header: ContentHeader;
    }
  | { readonly kind: 'sent'; readonly record: SentRecord };

/**
 * Finds the message that is answered or forwarded (`replyMessage`, `forwardMessage`, `createDraft`). A message that is
 * missing, deleted or in another inbox is refused with `not_found`, one that is not ready or not accepted with
 * `reply_not_ready`.
 */
export async function findSource(store: Store, inboxId: InboxId, messageId: string): Promise<MessageSource> {
  const found = store.read(reader => findRecord(reader, inboxId, messageId));
  if (found === null) throw notFound('message in this inbox');
  if (found.kind === 'sent') {
    if (found.status !== 'accepted') {
      throw refuse(
        'reply_not_ready',
        `The sent message is ${found.status}; only an accepted one can be answered or forwarded.`,
      );
    }
    return { kind: 'sent', record: found };
  }
  if (found.status !== 'ready') {
    throw refuse(
      'reply_not_ready',
      `The message is ${found.status}; it can be answered or forwarded once it is ready.`,
    );
  }
  const { content } = found;
  if (content === null) throw contentUnavailable();
  const header = await readOfSource(store, found, readContentHeader(store, content));
  return { kind: 'received', record: found, content, header };
}

/** Reads from a source; when its bytes are missing because it was deleted meanwhile, refuses with `not_found`. */
async function readOfSource<Value>(
  store: Store,
  { inboxId, id }: MessageRecord,
  read: Promise<Value>,
): Promise<Value> {
  try {
    return await read;
  } catch (error) {
    const isMissing = error instanceof Refusal && error.failure.code === 'content_unavailable';
    const isGone = isMissing && store.read(reader => findRecord(reader, inboxId, id)) === null;
    throw isGone ? notFound('message in this inbox') : error;
  }
}

function findRecord(reader: Reader, inboxId: InboxId, messageId: string): MessageRecord | null {
  const id = toId<MessageId>(messageId);
  const record = id === null ? undefined : (getMessage(reader, id) ?? getSent(reader, id));
  return record?.inboxId === inboxId && record.trash === null ? record : null;
}

/** What ties a reply to the message; `reply_headers_unavailable` when that has no usable Message-ID. */
export function replyTargetOf(source: MessageSource): ReplyTarget {
  const headers = replyHeaders(parentOf(source));
  return { id: source.record.id, headers };
}

function parentOf(source: MessageSource): ReplyParent {
  if (source.kind === 'sent') {
    const { messageId: ownId, mentionsItself = false, replyHeaders: own } = source.record;
    const references = own?.references ?? (mentionsItself ? `<${ownId}>` : null);
    return { messageId: knownIdOf(source.record), references, inReplyTo: own?.inReplyTo ?? null };
  }
  const { message_id: messageId, references, in_reply_to: inReplyTo } = source.header;
  return { messageId, references, inReplyTo };
}

/** The message that `in_reply_to` names; null when it names none. */
export async function findReplyTarget(
  store: Store,
  inbox: InboxRecord,
  messageId: string | null,
): Promise<ReplyTarget | null> {
  if (messageId === null) return null;
  const source = await findSource(store, inbox.id, messageId);
  return replyTargetOf(source);
}

/** What an answer is derived from. */
export function answerable(source: MessageSource): ReplySource {
  return source.kind === 'sent'
    ? { kind: 'sent', submission: source.record }
    : { kind: 'received', content: source.header };
}

/**
 * All of a forward but its recipients. It answers nothing: a new conversation begins with it.
 * @param hand what the request has in memory, to which the message is added
 */
export async function readForward(
  store: Store,
  source: MessageSource,
  options: Pick<NormalForward, 'note' | 'includeAttachments'>,
  hand: Hand | null,
): Promise<Omit<OutgoingBody, 'replyTarget'>> {
  const { record } = source;
  await hand?.takeWork(bytesToForward(store, source, options));
  const original = await readOfSource(store, record, readOriginal(store, source));
  const derived = await inSlices(deriveForward(original, options));
  const files = await readOfSource(store, record, readForwardedFiles(store, source, derived));
  const { subject, text, html } = derived;
  return { subject, text, html, files };
}

function bytesToForward(
  store: Store,
  source: MessageSource,
  { includeAttachments }: Pick<NormalForward, 'includeAttachments'>,
): number {
  const content = source.kind === 'sent' ? source.record.content : source.content;
  const files = includeAttachments ? filesOf(store, source) : [];
  return files.reduce((sum, { size }) => sum + size, content.size);
}

/** A content with more JSON cannot come to a message that may be sent. */
const MAX_CONTENT_BYTES = 3 * MAX_MESSAGE_BYTES;

async function readOriginal(store: Store, source: MessageSource): Promise<ForwardSource> {
  if (source.kind === 'sent') {
    const { record } = source;
    const { text, html = null } = await readSentBodies(store, record.content);
    return sentAsForwardSource({ ...record, date: record.reservedAt, text, html });
  }
  if (source.content.size > MAX_CONTENT_BYTES) throw tooLarge(MAX_CONTENT_BYTES);
  return readContent(store, source.content);
}

/** The original bytes of every file, after a check that they fit into a message. */
async function readForwardedFiles(
  store: Store,
  source: MessageSource,
  { text, html, files }: DerivedForward,
): Promise<readonly OutgoingFile[]> {
  const originals = new Map(filesOf(store, source).map(file => [file.id, file]));
  const size = contentBytes({
    text,
    html,
    fileSizes: files.map(({ sourceId }) => originals.get(sourceId)?.size ?? 0),
  });
  if (size > MAX_MESSAGE_BYTES) throw tooLarge(size);
  const outgoing: OutgoingFile[] = [];
  for (const { sourceId, ...description } of files) {
    const original = originals.get(sourceId);
    if (original === undefined) throw contentUnavailable();
    outgoing.push({ ...description, bytes: await original.read() });
  }
  return outgoing;
}

/** A file of a message that is forwarded. */
interface OriginalFile {
  readonly id: string;
  readonly size: number;
  /** @throws content_unavailable */
  read(): Promise<Buffer>;
}

function filesOf(store: Store, { kind, record }: MessageSource): readonly OriginalFile[] {
  return kind === 'sent'
    ? record.files.map(({ id, blob }) => ({ id, size: blob.size, read: () => readWhole(store, blob) }))
    : record.attachments.map(place => ({
        id: place.id,
        size: sizeOfAttachment(place),
        read: () => readAttachment(store, record, place),
      }));
}
