import type { ParsedAddress } from '../../contract/messages.js';
import type { ThreadLatestMessage, ThreadSummary } from '../../contract/threads.js';
import { notFound } from '../../domain/errors.js';
import { type AccountId, type MessageId, type ThreadId, toId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { Mailbox } from '../../domain/message-parts.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { storedNewWords } from '../../store/mailbox/excerpts.js';
import { idField, instantOf, summariesTable } from '../../store/mailbox/folders.js';
import {
  detailFields,
  getMessage,
  getSent,
  type SentRecord,
  viewSent,
} from '../../store/mailbox/messages.js';
import {
  compareMembers,
  instantAt,
  type Member,
  type MemberPosition,
  scanMembers,
} from '../../store/threads/members.js';
import { findThread, memberCount, type ThreadRecord } from '../../store/threads/threads.js';
import { reachedInbox } from '../shared/callers.js';
import {
  type ByteStream,
  inMemory,
  joinStreams,
  membersOf,
  openBlob,
  openContent,
  openNewWords,
} from '../shared/contents.js';
import { fitting, MAX_PAGE_BYTES, memberCursors, type PageInput, page } from '../shared/pages.js';

/** What an agent asks for with a thread's id. */
export interface ThreadInput {
  readonly accountId: AccountId;
  readonly threadId: string;
}

export interface LocatedThread {
  readonly root: ThreadId;
  readonly thread: ThreadRecord;
}

/** A conversation of the caller, by any id that it ever had; one without a member to show is missing. */
export function locateThread(reader: Reader, input: ThreadInput): LocatedThread {
  const id = toId<ThreadId>(input.threadId);
  const found = id === null ? undefined : findThread(reader, id);
  const isReached =
    found !== undefined &&
    memberCount(found.thread) > 0 &&
    reachedInbox(reader, input, found.thread.inboxId) !== null;
  if (!isReached) throw notFound('thread');
  return found;
}

/**
 * A conversation as JSON bytes (`getThread`). The first page has the newest members, `next_cursor` leads to older ones;
 * each page is in order of time. Long contents are read while the response is sent; when one of them is deleted before
 * its turn, the response is cut off.
 */
export function getThreadDetail(
  deps: { store: Store; cursors: CursorCodec },
  input: ThreadInput & PageInput,
): ByteStream {
  const { store, cursors } = deps;
  return store.read(reader => {
    const { root, thread } = locateThread(reader, input);
    // The id as it was asked for: a merge between two pages does not end the pages.
    const place = { inboxId: thread.inboxId, root };
    const { items, next_cursor } = page(
      memberCursors(cursors, `thread ${input.threadId}`),
      input,
      (position, limit) => scanMembers(reader, place, { isDescending: true, position, limit }),
      member => member,
      found => fitting(found, member => sizeOfMember(reader, member), MAX_DETAIL_BYTES),
    );
    return encodeDetail(store, reader, thread, items.toReversed(), next_cursor);
  });
}

/** Contents are long: a page of a conversation has room for more than one of a list. */
const MAX_DETAIL_BYTES = 8 * MAX_PAGE_BYTES;

function sizeOfMember(reader: Reader, { kind, summary }: Member): number {
  const id = idField<MessageId>(summary, 'id');
  const record = id === null ? undefined : kind === 'sent' ? getSent(reader, id) : getMessage(reader, id);
  return summary.length + (record?.content?.size ?? 0);
}

function encodeDetail(
  store: Store,
  reader: Reader,
  thread: ThreadRecord,
  members: readonly Member[],
  nextCursor: string | null,
): ByteStream {
  const earliest = faceAt(reader, thread, thread.earliest);
  const fields = JSON.stringify(viewThread(reader, thread, earliest)).slice(0, -1);
  const parts: ByteStream[] = [text(`${fields},"messages":[`)];
  for (const member of members) {
    const encoded = encodeMember(store, reader, thread, member);
    if (parts.length > 1 && encoded.length > 0) parts.push(text(','));
    parts.push(...encoded);
  }
  parts.push(text(`],"next_cursor":${JSON.stringify(nextCursor)}}`));
  return joinStreams(parts);
}

function text(json: string): ByteStream {
  return inMemory([Buffer.from(json)]);
}

/** Longer contents are read when their turn comes, so that a page of a hundred members needs little memory. */
const HELD_BYTES = 8 * 1024;

/** One member in pieces; none when its record is missing (damage). */
function encodeMember(
  store: Store,
  reader: Reader,
  { shown: threadId }: ThreadRecord,
  { kind, summary }: Member,
): readonly ByteStream[] {
  const place = { direction: kind, timestamp: toInstant(instantOf(summary)) };
  if (kind === 'sent') {
    const record = sentOf(reader, summary);
    return record === undefined ? [] : encodeSent(store, reader, { ...record, threadId }, place);
  }
  const id = idField<MessageId>(summary, 'id');
  const record = id === null ? undefined : getMessage(reader, id);
  if (record === undefined || record.content === null) return [];
  const content = openContent(store, record.content, storedNewWords(reader, record.id), HELD_BYTES);
  const fields = JSON.stringify({ ...detailFields({ ...record, threadId }), ...place });
  return [text(`${fields.slice(0, -1)},"content":`), content, text('}')];
}

/** A sent member, without the bytes of its files. */
function encodeSent(store: Store, reader: Reader, record: SentRecord, place: object): readonly ByteStream[] {
  const { from, to, cc, bcc, subject, replyHeaders } = record;
  const bodies = openBlob(store, record.content, HELD_BYTES);
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
  return [
    text(`${fields},"reply_text":`),
    openNewWords(store, record.content, bodies, storedNewWords(reader, record.id)),
    text(`,"submission":${head},`),
    membersOf(bodies),
    text(`,${tail}}`),
  ];
}

/** Which members meet a filter. */
export interface Matching {
  /** Newest first, at most a hundred. */
  readonly ids: readonly MessageId[];
  readonly count: number;
}

/** What lists and details say of a conversation. */
type ThreadBase = Omit<ThreadSummary, 'latest_message' | 'matching_message_ids' | 'matching_message_count'>;

function viewThread(reader: Reader, thread: ThreadRecord, earliest: Face | null): ThreadBase {
  const { inboxId, shown, counts, latest } = thread;
  return {
    id: shown,
    inbox_id: inboxId,
    subject: earliest?.subject ?? null,
    last_activity_at: toInstant(latest === null ? 0 : instantAt(reader, inboxId, latest)),
    message_count: memberCount(thread),
    received_count: counts.received,
    accepted_count: counts.accepted,
    rejected_count: counts.rejected,
    unknown_count: counts.unknown,
  };
}

/** Null when there is nothing to show: no member, or its line is missing (damage). */
export function viewThreadSummary(
  reader: Reader,
  thread: ThreadRecord,
  matching: Matching | null,
): ThreadSummary | null {
  const latest = faceAt(reader, thread, thread.latest);
  if (latest === null || thread.latest === null) return null;
  const isOne = thread.earliest !== null && compareMembers(thread.earliest, thread.latest) === 0;
  const earliest = isOne ? latest : faceAt(reader, thread, thread.earliest);
  const matches =
    matching === null ? {} : { matching_message_ids: matching.ids, matching_message_count: matching.count };
  return { ...viewThread(reader, thread, earliest), latest_message: latest.message, ...matches };
}

/** Bytes of an entry of a list, about: what senders can make long is its subject and the From of its latest message. */
export function sizeOfThread({ subject, latest_message: { counterpart } }: ThreadSummary): number {
  return 500 + (subject?.length ?? 0) + JSON.stringify(counterpart).length;
}

/** What a conversation shows of one of its members. */
interface Face {
  readonly subject: string | null;
  readonly message: ThreadLatestMessage;
}

/** Null when there is no such member, or its line is missing (damage). */
function faceAt(reader: Reader, { inboxId }: ThreadRecord, position: MemberPosition | null): Face | null {
  if (position === null) return null;
  const { kind, seq } = position;
  const summary = reader.get(summariesTable, { inboxId, kind, seq });
  if (summary === undefined) return null;
  if (kind === 'received') return receivedFace(summary);
  const record = sentOf(reader, summary);
  return record === undefined
    ? null
    : {
        subject: record.subject,
        message: { id: record.id, direction: 'sent', counterpart: firstRecipient(record) },
      };
}

/** A received message's line says it all. */
function receivedFace(summary: Buffer): Face {
  const { id, subject, from } = JSON.parse(summary.toString('utf8')) as {
    readonly id: string;
    readonly subject: string | null;
    readonly from?: ParsedAddress | null;
  };
  return { subject, message: { id, direction: 'received', counterpart: from ?? null } };
}

/** The record behind a line of a sent message. */
function sentOf(reader: Reader, summary: Buffer): SentRecord | undefined {
  const id = idField<MessageId>(summary, 'id');
  return id === null ? undefined : getSent(reader, id);
}

/** In lower case and without a name. */
function firstRecipient({ to }: SentRecord): Mailbox | null {
  const [first] = to;
  return first === undefined ? null : { address: first.address.toLowerCase() };
}
