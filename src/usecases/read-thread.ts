import type { CursorCodec } from '../domain/cursor.js';
import { notFound, ok, type Result } from '../domain/errors.js';
import { type AccountId, type MessageId, type ThreadId, toId } from '../domain/ids.js';
import { toInstant } from '../domain/instants.js';
import { getInbox } from '../store/inboxes.js';
import { contentsTable, getMessage } from '../store/messages.js';
import type { Reader } from '../store/reader-writer.js';
import { type SentRecord, sentContentsTable } from '../store/sent.js';
import type { Store } from '../store/store.js';
import { idField } from '../store/summary-fields.js';
import { type Member, scanMembers } from '../store/thread-members.js';
import { findThread, memberCount, type ThreadRecord } from '../store/threads.js';
import { type ByteStream, inMemory, joinStreams } from './byte-stream.js';
import { membersOf, openContent } from './open-content.js';
import { decodePosition, encodePosition } from './position-cursor.js';
import { detailFields } from './received-view.js';
import { viewSent } from './sent-view.js';
import { sentOf, viewThread } from './thread-view.js';

/** What an agent asks for with a thread's id. */
export interface ThreadInput {
  readonly accountId: AccountId;
  readonly threadId: string;
}

export interface OwnedThread {
  readonly root: ThreadId;
  readonly thread: ThreadRecord;
}

/** A conversation of the caller, by any id that it ever had; one without a member to show is missing. */
export function ownedThread(reader: Reader, { accountId, threadId }: ThreadInput): Result<OwnedThread> {
  const id = toId<ThreadId>(threadId);
  const found = id === null ? undefined : findThread(reader, id);
  const isOwned =
    found !== undefined &&
    memberCount(found.thread) > 0 &&
    getInbox(reader, found.thread.inboxId)?.accountId === accountId;
  return isOwned ? ok(found) : notFound('thread');
}

/**
 * A conversation as JSON bytes (wire contract, `ThreadDetail`): the newest members on the first page, the oldest
 * first within each page, `next_cursor` leading to older ones. Contents that are not short are read as they go
 * out; when one is deleted before its turn comes the answer is cut off.
 */
export function getThreadDetail(
  deps: { store: Store; cursors: CursorCodec },
  input: ThreadInput & { readonly limit: number; readonly cursor: string | null },
): Result<ByteStream> {
  const { store, cursors } = deps;
  return store.read(reader => {
    const owned = ownedThread(reader, input);
    if (!owned.ok) return owned;
    const { root, thread } = owned.value;
    // The id as it was asked for: a merge between two pages does not end the pages.
    const scope = `thread ${input.threadId}`;
    const position = decodePosition(cursors, scope, input.cursor);
    if (!position.ok) return position;
    const scan = { isDescending: true, position: position.value, limit: input.limit + 1 };
    const members = scanMembers(reader, { inboxId: thread.inboxId, root }, scan);
    const shown = members.slice(0, input.limit);
    const oldest = shown.at(-1);
    const next =
      members.length > input.limit && oldest !== undefined ? encodePosition(cursors, scope, oldest) : null;
    return encodeDetail(store, reader, thread, shown.reverse(), next);
  });
}

function encodeDetail(
  store: Store,
  reader: Reader,
  thread: ThreadRecord,
  members: readonly Member[],
  nextCursor: string | null,
): Result<ByteStream> {
  const fields = JSON.stringify(viewThread(reader, thread)).slice(0, -1);
  const parts: ByteStream[] = [text(`${fields},"messages":[`)];
  for (const member of members) {
    const encoded = encodeMember(store, reader, thread, member);
    if (!encoded.ok) return encoded;
    if (parts.length > 1 && encoded.value.length > 0) parts.push(text(','));
    parts.push(...encoded.value);
  }
  parts.push(text(`],"next_cursor":${JSON.stringify(nextCursor)}}`));
  return ok(joinStreams(parts));
}

function text(json: string): ByteStream {
  return inMemory([Buffer.from(json)]);
}

/** One member in pieces; none when its record is missing (damage). */
function encodeMember(
  store: Store,
  reader: Reader,
  { shown: threadId }: ThreadRecord,
  { kind, at, summary }: Member,
): Result<readonly ByteStream[]> {
  const place = { direction: kind, timestamp: toInstant(at) };
  if (kind === 'sent') {
    const record = sentOf(reader, summary);
    return record === undefined ? ok([]) : encodeSent(store, { ...record, threadId }, place);
  }
  const id = idField<MessageId>(summary, 'id');
  const record = id === null ? undefined : getMessage(reader, id);
  if (record === undefined || record.content === null) return ok([]);
  const content = openContent(store, contentsTable, record.id, record.content);
  if (!content.ok) return content;
  const fields = JSON.stringify({ ...detailFields({ ...record, threadId }), ...place });
  return ok([text(`${fields.slice(0, -1)},"content":`), content.value, text('}')]);
}

/** Wire contract, `ThreadSentDetail`: no bytes of files. */
function encodeSent(store: Store, record: SentRecord, place: object): Result<readonly ByteStream[]> {
  const { id, from, to, cc, bcc, subject, replyHeaders } = record;
  const bodies = openContent(store, sentContentsTable, id, record.content);
  if (!bodies.ok) return bodies;
  const attachments = record.files.map(file => ({
    id: file.id,
    filename: file.filename,
    mime_type: file.type,
    size: file.blob.size,
  }));
  const headers =
    replyHeaders === null
      ? {}
      : { headers: { 'In-Reply-To': replyHeaders.inReplyTo, References: replyHeaders.references } };
  const fields = JSON.stringify({ ...viewSent(record), ...place }).slice(0, -1);
  const head = JSON.stringify({ from, to, cc, bcc, subject }).slice(0, -1);
  const tail = JSON.stringify({ attachments, ...headers }).slice(1);
  return ok([text(`${fields},"submission":${head},`), membersOf(bodies.value), text(`,${tail}}`)]);
}
