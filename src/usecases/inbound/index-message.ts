import { type Authentication, localAuthentication, type Origin } from '../../domain/authentication.js';
import { NO_EXCERPT } from '../../domain/excerpts/kept-excerpt.js';
import type { MessageId } from '../../domain/ids.js';
import { unknownAuthentication } from '../../domain/verdict.js';
import { NoRoomError, type Room } from '../../store/engine/room.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { putExcerpt, removeExcerpt } from '../../store/mailbox/excerpts.js';
import {
  attachmentBlobs,
  bytesOwedTo,
  getMessage,
  type ReceivedRecord,
  saveMessage,
} from '../../store/mailbox/messages.js';
import type { BlobUploads } from '../../store/records/blob-upload.js';
import { releaseBlob } from '../../store/records/blobs.js';
import { noteEvent } from '../../store/records/events.js';
import { addPending, pendingPages, removePending } from '../../store/records/pending.js';
import { dropWords, noteWords } from '../../store/records/search.js';
import { joinThread } from '../../store/threads/move.js';
import { locate } from '../mailbox/message-access.js';
import type { Clock, Logger, MessageParser, ParseOutcome, PreparedContent } from '../ports.js';
import { ADMIN } from '../shared/callers.js';
import { blobNamed, type Uploads, withUploads } from '../shared/uploads.js';
import { type NoteBounce, noteReport } from './note-report.js';
import { rawSourceOf } from './raw-source.js';
import { isImported, isLocal, originOf, planRecheck } from './recheck-message.js';

export interface IndexDeps {
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly parser: MessageParser;
  readonly log: Logger;
  /** Hears what other systems report of messages that were sent from here. */
  readonly noteBounce?: NoteBounce;
  /** Attempts before a message is `failed`. */
  readonly maxTries: number;
  /** When this process began to take mail; null where every attempt has to be marked (`begin`). */
  readonly startedAt: number | null;
}

export type IndexOutcome =
  /** The message is ready, failed, or was deleted meanwhile; or there was nothing to do. */
  | { readonly status: 'done' }
  /** To be offered again at `dueAt` (milliseconds since the epoch). */
  | { readonly status: 'again'; readonly dueAt: number };

/** Pause before the second and third attempt. */
const RETRY_MS = [1_000, 5_000] as const;

/**
 * Parses one message and publishes it: `pending` -> `processing` -> `ready` or `failed`. The content, its attachments,
 * its conversation and the word `ready` appear in one commit. Calling it twice for one message, at once or later, does
 * no harm: whoever publishes first wins.
 */
export async function indexMessage(deps: IndexDeps, id: MessageId): Promise<IndexOutcome> {
  const { clock } = deps;
  let record: ReceivedRecord | null = null;
  try {
    record = await begin(deps, id);
    return record === null ? { status: 'done' } : await parseAndPublish(deps, record);
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
    if (record !== null) await endTry(deps, record, { status: 'stopped' });
    return { status: 'again', dueAt: clock() + NO_ROOM_MS };
  }
}

/** Mail that finds no room to be parsed stays pending, loses no try, and is looked at again after this time. */
const NO_ROOM_MS = 2_000;

async function parseAndPublish(deps: IndexDeps, begun: ReceivedRecord): Promise<IndexOutcome> {
  const { id, tries } = begun;
  const { store, uploads } = deps;
  const outcome = await deps.parser.parse({ origin: originToCheck(begun), ...rawSourceOf(store, begun) });
  if (outcome.status !== 'parsed') return endTry(deps, begun, outcome);
  const { prepared } = outcome;
  const work = async (parts: Uploads): Promise<IndexOutcome> => {
    await parts.add(CONTENT, prepared.json);
    await store.write(writer => publish(writer, deps, { id, tries }, prepared, parts), 'finish');
    return { status: 'done' };
  };
  return withUploads(uploads, work, 'finish');
}

/**
 * Where a message came from, if who has written it is still to be found out. A message that is parsed alone does not wait
 * for the DNS: all others would wait with it, and each end of the process in those seconds would be held against it.
 */
function originToCheck(record: ReceivedRecord): Origin | null {
  const isKnown = isLocal(record) || isImported(record) || record.checked != null;
  return isKnown || isParsedAlone(record) ? null : originOf(record);
}

const NOT_YET_CHECKED: Authentication = unknownAuthentication(
  'parsing was interrupted: it is checked later.',
);

const IMPORTED_MAIL: Authentication = unknownAuthentication(
  'it was imported, and nothing proves where it came from.',
);

/**
 * Who has written a message, for the commit that publishes it. Mail that came over no network is from an inbox of this
 * box: the address of a client stands for that, which no client has.
 */
function published(
  writer: Writer,
  record: ReceivedRecord,
  prepared: PreparedContent,
  nowMs: number,
): Pick<ReceivedRecord, 'authentication' | 'checked' | 'recheck'> {
  if (isImported(record)) return { authentication: IMPORTED_MAIL, checked: null, recheck: null };
  const { from } = prepared;
  const address = from !== null && 'address' in from ? from.address : null;
  const authentication = isLocal(record)
    ? localAuthentication(address)
    : (record.checked ?? prepared.authentication ?? (isParsedAlone(record) ? NOT_YET_CHECKED : null));
  const recheck = planRecheck(writer, record.id, authentication, 1, nowMs);
  return { authentication, checked: null, recheck };
}

type Unparsed = Exclude<ParseOutcome, { status: 'parsed' }>;

/** A message, and which attempt this is. */
type Try = Pick<ReceivedRecord, 'id' | 'tries'>;

function endTry(deps: IndexDeps, attempt: Try, outcome: Unparsed): Promise<IndexOutcome> {
  return deps.store.write(writer => giveUpTry(writer, deps, attempt, outcome), 'settle');
}

/** What the content is called while it is uploaded. */
const CONTENT = 'content';

/** The first attempt at a message of up to this many bytes is not marked: it takes milliseconds. */
const UNMARKED_BYTES = 256 * 1024;

/**
 * Begins an attempt. Marked as `processing` on disk, a message that takes the process down gets the blame
 * (`recoverParsing`). The mark costs a flush, which the next acceptance waits for; so a small message that has just come
 * is parsed without. If it takes the process down, the next process finds it older than itself, and marks it.
 * @returns the message as it is during the attempt; null when it is gone or finished
 * @throws NoRoomError when there is no room for what parsing it will add
 */
function begin(deps: IndexDeps, id: MessageId): Promise<ReceivedRecord | null> | ReceivedRecord | null {
  const { store } = deps;
  const record = store.read(reader => getMessage(reader, id));
  if (record === undefined || record.parseDueAt === null) return null;
  if (!isUnmarked(deps, record)) return store.write(writer => beginTry(writer, id, store.room), 'finish');
  if (!store.room.hasRoomFor(bytesOwedTo(record), 'finish')) throw new NoRoomError();
  return { ...record, status: 'processing', tries: record.tries + 1 };
}

function isUnmarked({ startedAt, clock }: IndexDeps, record: ReceivedRecord): boolean {
  const { raw, tries, interruptions, receivedAt } = record;
  const isNew = startedAt !== null && receivedAt >= startedAt && tries + interruptions === 0;
  const isClockSure = clock.isInDoubt !== true && (clock.setBackMs ?? 0) === 0;
  return isNew && isClockSure && raw.size <= UNMARKED_BYTES;
}

/**
 * Null when there is nothing to do: the message is gone, or it is finished.
 * @throws NoRoomError when there is no room for what parsing it will add
 */
function beginTry(writer: Writer, id: MessageId, room: Room): ReceivedRecord | null {
  const record = getMessage(writer, id);
  if (record === undefined || record.parseDueAt === null) return null;
  if (!room.hasRoomFor(bytesOwedTo(record), 'finish')) throw new NoRoomError();
  const begun: ReceivedRecord = { ...record, status: 'processing', tries: record.tries + 1 };
  saveMessage(writer, record, begun);
  return begun;
}

function giveUpTry(writer: Writer, deps: IndexDeps, { id, tries }: Try, outcome: Unparsed): IndexOutcome {
  const record = getMessage(writer, id);
  if (record === undefined || record.parseDueAt === null) return { status: 'done' };
  const nowMs = deps.clock();
  if (outcome.status === 'stopped') {
    // Not the message's fault: this attempt does not count.
    saveUnfinished(writer, record, tries - 1, record.parseDueAt);
    return { status: 'done' };
  }
  const fields = { message_id: id, tries, reason: outcome.reason, detail: outcome.detail };
  // Running out of time is final: the same bytes would cost a worker the same minute again.
  if (outcome.reason === 'timeout' || tries >= deps.maxTries) {
    deps.log.warn(fields, 'a message could not be parsed: it is kept as failed, its raw bytes intact');
    failMessage(writer, { ...record, tries }, outcome.reason, nowMs);
    return { status: 'done' };
  }
  deps.log.info(fields, 'parsing a message failed: it is tried again');
  const dueAt = nowMs + (RETRY_MS[tries - 1] ?? RETRY_MS[1]);
  saveUnfinished(writer, record, tries, dueAt);
  return { status: 'again', dueAt };
}

/** Returns a message to `pending`, its pending entry due at `dueAt`. */
function saveUnfinished(writer: Writer, record: ReceivedRecord, tries: number, dueAt: number): void {
  if (record.parseDueAt !== null && record.parseDueAt !== dueAt) {
    removePending(writer, { kind: 'parse', dueAt: record.parseDueAt, id: record.id });
    addPending(writer, dueAt, { kind: 'parse', id: record.id });
  }
  const saved: ReceivedRecord = { ...record, status: 'pending', tries, parseDueAt: dueAt };
  saveMessage(writer, record, saved);
}

/** Ends the attempts: the message is `failed`, its raw bytes stay. */
function failMessage(writer: Writer, record: ReceivedRecord, failure: string, nowMs: number): void {
  if (record.parseDueAt !== null) {
    removePending(writer, { kind: 'parse', dueAt: record.parseDueAt, id: record.id });
  }
  const failed: ReceivedRecord = {
    ...record,
    status: 'failed',
    parseDueAt: null,
    processedAt: nowMs,
    failure,
  };
  saveMessage(writer, record, failed);
  noteEvent(writer, { type: 'message.failed', inboxId: record.inboxId, messageId: record.id }, nowMs);
}

function publish(
  writer: Writer,
  { clock, noteBounce = () => {} }: IndexDeps,
  { id, tries }: Try,
  prepared: PreparedContent,
  parts: Uploads,
): void {
  const nowMs = clock();
  const record = getMessage(writer, id);
  if (record === undefined || record.parseDueAt === null) return;
  removePending(writer, { kind: 'parse', dueAt: record.parseDueAt, id });
  const ready: ReceivedRecord = {
    ...record,
    status: 'ready',
    tries,
    parseDueAt: null,
    processedAt: nowMs,
    failure: null,
    threadId: joinThread(writer, record.inboxId, prepared.ids, nowMs, record.threadId),
    from: prepared.from,
    senders: prepared.senders,
    recipients: prepared.recipients,
    subject: prepared.subject,
    messageId: prepared.messageId,
    content: blobNamed(parts.finish(writer), CONTENT),
    attachments: prepared.attachments,
    ...published(writer, record, prepared, nowMs),
  };
  saveMessage(writer, record, ready);
  noteWords(writer, ready, prepared.words, nowMs);
  putExcerpt(writer, id, prepared.excerpt ?? NO_EXCERPT);
  const { inboxId, threadId } = ready;
  // What an admin has parsed again has come before: agents would take it for new mail, and answer it once more.
  if (record.threadId === null) {
    noteEvent(writer, { type: 'message.received', inboxId, messageId: id, threadId }, nowMs);
  }
  if (prepared.report !== null) noteReport(writer, ready, prepared.report, noteBounce);
}

/**
 * How often the process may end while it parses one message before the message gets the blame. Far above
 * the three tries: a power cut or an upgrade is not the message's fault, a message that takes the whole
 * process down each time is.
 */
const MAX_INTERRUPTIONS = 10;

/**
 * When the process ends, every message in flight counts as interrupted, because nobody knows which one was to blame.
 * From this many interruptions on, a message is parsed alone: the harmless ones get ready, and only the culprit is
 * counted again.
 */
const ALONE_FROM = 2;

/** What decides when a pending message is parsed: its inbox, its size, and how often it was interrupted. */
export type ParseWork = Pick<ReceivedRecord, 'id' | 'inboxId' | 'raw' | 'interruptions'>;

/** Must this message be parsed alone? */
export function isParsedAlone({ interruptions }: ParseWork): boolean {
  return interruptions >= ALONE_FROM;
}

/**
 * At boot: messages that a process was parsing when it ended return to `pending`. Their pending entries never
 * went away. Room is told what the parsing of all that wait will take.
 * @returns how many returned
 */
export async function recoverParsing(deps: { store: Store; clock: Clock }): Promise<number> {
  let recovered = 0;
  // Includes entries that are not due yet: a message in flight may be waiting for its next try.
  for (const page of pendingPages(deps.store, 'parse')) {
    for (const { work, dueAt } of page) {
      const record = deps.store.read(reader => getMessage(reader, work.id));
      deps.store.room.owe(bytesOwedTo(record ?? null));
      if (record?.status === 'processing') {
        await deps.store.write(writer => returnToPending(writer, work.id, dueAt, deps.clock()), 'settle');
        recovered += 1;
      }
    }
  }
  return recovered;
}

function returnToPending(writer: Writer, id: MessageId, dueAt: number, nowMs: number): void {
  const record = getMessage(writer, id);
  if (record === undefined) {
    removePending(writer, { kind: 'parse', dueAt, id });
    return;
  }
  const interruptions = record.interruptions + 1;
  if (interruptions >= MAX_INTERRUPTIONS) {
    failMessage(writer, { ...record, interruptions }, 'worker_died', nowMs);
    return;
  }
  const returned = {
    ...record,
    status: 'pending' as const,
    tries: Math.max(0, record.tries - 1),
    interruptions,
  };
  saveMessage(writer, record, returned);
}

/**
 * An admin asks for a new attempt: the message is `pending` again, and its prepared content is dropped. Its
 * conversation does not show it until it is ready again.
 */
export async function reparseMessage(
  deps: { store: Store; clock: Clock },
  messageId: string,
): Promise<{ readonly id: string; readonly processing_status: 'pending' }> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const trash = { restorableAt: nowMs };
    const record = locate(writer, { ...ADMIN, messageId }, { kinds: ['received'], trash });
    if (record.parseDueAt === null) {
      const again = unprepared(record, nowMs);
      if (record.recheck != null) {
        removePending(writer, { kind: 'authenticate', dueAt: record.recheck.dueAt, id: record.id });
      }
      for (const { id } of attachmentBlobs(record)) releaseBlob(writer, id, nowMs);
      if (record.content !== null) releaseBlob(writer, record.content.id, nowMs);
      removeExcerpt(writer, record.id);
      saveMessage(writer, record, again);
      if (record.content !== null) dropWords(writer, record, nowMs);
      addPending(writer, nowMs, { kind: 'parse', id: record.id });
    }
    return { id: record.id, processing_status: 'pending' as const };
  });
}

/** What has been found out of its writer stays: keys that proved it may be gone by now. */
function unprepared(record: ReceivedRecord, nowMs: number): ReceivedRecord {
  const { authentication } = record;
  return {
    ...record,
    checked: authentication?.verdict === 'unknown' ? null : (authentication ?? record.checked ?? null),
    authentication: null,
    recheck: null,
    status: 'pending',
    tries: 0,
    interruptions: 0,
    parseDueAt: nowMs,
    processedAt: null,
    failure: null,
    from: null,
    senders: [],
    recipients: [],
    subject: null,
    messageId: null,
    content: null,
    attachments: [],
  };
}
