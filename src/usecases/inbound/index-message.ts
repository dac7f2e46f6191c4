import type { MessageId } from '../../domain/ids.js';
import type { AttachmentSink } from '../../mail/read/limits.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { contentsTable, getMessage, type ReceivedRecord, saveMessage } from '../../store/mailbox/messages.js';
import type { BlobUpload, BlobUploads } from '../../store/records/blob-upload.js';
import { type BlobRef, CHUNK_BYTES, readBlob, releaseBlob } from '../../store/records/blobs.js';
import { addPending, pendingPages, removePending } from '../../store/records/pending.js';
import { joinThread } from '../../store/threads/move.js';
import { locate } from '../mailbox/message-access.js';
import type { Clock, Logger, MessageParser, ParseOutcome, PreparedContent } from '../ports.js';
import { ADMIN } from '../shared/callers.js';

export interface IndexDeps {
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly parser: MessageParser;
  readonly log: Logger;
  /** Attempts before a message is `failed`. */
  readonly maxTries: number;
}

export type IndexOutcome =
  /** Ready, failed, deleted meanwhile, or nothing was to be done. */
  | { readonly status: 'done' }
  /** To be offered again at `dueAt` (milliseconds since the epoch). */
  | { readonly status: 'again'; readonly dueAt: number };

/** Pause before the second and third attempt. */
const RETRY_MS = [1_000, 5_000] as const;

/**
 * Parses one message and publishes it: `pending` -> `processing` -> `ready` or `failed` (decisions,
 * Received mail). The content, its attachments, its conversation and the word `ready` appear in one commit.
 * Calling it twice for one message, at once or later, does no harm: whoever publishes first wins.
 */
export async function indexMessage(deps: IndexDeps, id: MessageId): Promise<IndexOutcome> {
  const { store, uploads, clock } = deps;
  const record = await store.write(writer => beginTry(writer, id));
  if (record === null) return { status: 'done' };

  const parts = new PartUploads(uploads);
  let isPublished = false;
  try {
    const outcome = await deps.parser.parse(readBlob(store, record.raw), parts);
    if (outcome.status !== 'parsed') return await store.write(writer => giveUpTry(writer, deps, id, outcome));
    const { prepared } = outcome;
    await parts.addContent(prepared.json);
    isPublished = await store.write(writer => publish(writer, id, prepared, parts, clock()));
    return { status: 'done' };
  } finally {
    if (!isPublished) parts.abort();
  }
}

/** Null when there is nothing to do: the message is gone, or it is finished. */
function beginTry(writer: Writer, id: MessageId): ReceivedRecord | null {
  const record = getMessage(writer, id);
  if (record === undefined || record.parseDueAt === null) return null;
  const begun: ReceivedRecord = { ...record, status: 'processing', tries: record.tries + 1 };
  saveMessage(writer, record, begun);
  return begun;
}

function giveUpTry(
  writer: Writer,
  deps: IndexDeps,
  id: MessageId,
  outcome: Exclude<ParseOutcome, { status: 'parsed' }>,
): IndexOutcome {
  const record = getMessage(writer, id);
  if (record === undefined || record.parseDueAt === null) return { status: 'done' };
  const nowMs = deps.clock();
  if (outcome.status === 'stopped') {
    // Not the message's fault: as if it had not been tried.
    saveUnfinished(writer, record, record.tries - 1, record.parseDueAt);
    return { status: 'done' };
  }
  const fields = { message_id: id, tries: record.tries, reason: outcome.reason, detail: outcome.detail };
  // Running out of time is final: the same bytes would cost a worker the same minute again.
  if (outcome.reason === 'timeout' || record.tries >= deps.maxTries) {
    deps.log.warn(fields, 'a message could not be parsed: it is kept as failed, its raw bytes intact');
    failMessage(writer, record, outcome.reason, nowMs);
    return { status: 'done' };
  }
  deps.log.info(fields, 'parsing a message failed: it is tried again');
  const dueAt = nowMs + (RETRY_MS[record.tries - 1] ?? RETRY_MS[1]);
  saveUnfinished(writer, record, record.tries, dueAt);
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
}

function publish(
  writer: Writer,
  id: MessageId,
  prepared: PreparedContent,
  parts: PartUploads,
  nowMs: number,
): boolean {
  const record = getMessage(writer, id);
  if (record === undefined || record.parseDueAt === null) return false;
  removePending(writer, { kind: 'parse', dueAt: record.parseDueAt, id });
  const { attachments, content } = parts.finish(writer);
  if (content === null) writer.put(contentsTable, id, Buffer.from(prepared.json));
  const ready: ReceivedRecord = {
    ...record,
    status: 'ready',
    parseDueAt: null,
    processedAt: nowMs,
    failure: null,
    threadId: joinThread(writer, record.inboxId, prepared.ids, nowMs, record.threadId),
    from: prepared.from,
    senders: prepared.senders,
    recipients: prepared.recipients,
    subject: prepared.subject,
    messageId: prepared.messageId,
    content: content === null ? { in: 'record' } : { in: 'blob', blob: content },
    attachments: attachments.map((place, index) => ({
      ...place,
      filename: prepared.filenames[index] ?? null,
    })),
  };
  saveMessage(writer, record, ready);
  return true;
}

/** What parsing a message brings into the store, out of reach until `finish`: attachments, long content. */
class PartUploads implements AttachmentSink {
  readonly #uploads: BlobUploads;
  readonly #attachments: { id: string; upload: BlobUpload }[] = [];
  #content: BlobUpload | null = null;

  constructor(uploads: BlobUploads) {
    this.#uploads = uploads;
  }

  begin(id: string): void {
    this.#attachments.push({ id, upload: this.#uploads.begin() });
  }

  write(chunk: Uint8Array): void | Promise<void> {
    const current = this.#attachments.at(-1);
    if (current === undefined) throw new Error('attachment bytes before any attachment was begun');
    if (!current.upload.write(chunk)) return current.upload.drained();
  }

  end(): void {}

  /** Content up to one chunk stays beside the record; a longer one is uploaded like any blob. */
  async addContent(json: Uint8Array): Promise<void> {
    if (json.length <= CHUNK_BYTES) return;
    this.#content = this.#uploads.begin();
    for (let at = 0; at < json.length; at += CHUNK_BYTES) {
      if (!this.#content.write(json.subarray(at, at + CHUNK_BYTES))) await this.#content.drained();
    }
  }

  /** Ends all of them inside the unit of work that makes them reachable; `content` is null when it is short. */
  finish(writer: Writer): { attachments: { id: string; blob: BlobRef }[]; content: BlobRef | null } {
    return {
      attachments: this.#attachments.map(({ id, upload }) => ({ id, blob: upload.finish(writer) })),
      content: this.#content?.finish(writer) ?? null,
    };
  }

  abort(): void {
    for (const { upload } of this.#attachments) upload.abort();
    this.#content?.abort();
  }
}

/**
 * How often the process may end while it parses one message before the message gets the blame. Far above
 * the three tries: a power cut or an upgrade is not the message's fault, a message that takes the whole
 * process down each time is.
 */
const MAX_INTERRUPTIONS = 10;

/**
 * All that was in hand when the process ended is counted as interrupted, because nobody knows which message
 * was to blame. From so many interruptions on a message is parsed while no other is in hand, so that the
 * innocent get ready and only the culprit is counted on.
 */
const ALONE_FROM = 2;

/** Must nothing else be parsed while this message is? */
export function isParsedAlone(reader: Reader, id: MessageId): boolean {
  return (getMessage(reader, id)?.interruptions ?? 0) >= ALONE_FROM;
}

/**
 * At boot: messages that a process was parsing when it ended return to `pending`. Their pending entries never
 * went away.
 * @returns how many there were
 */
export async function recoverParsing(deps: { store: Store; clock: Clock }): Promise<number> {
  let recovered = 0;
  // Entries of the future included: a message in hand may wait for its next try.
  for (const page of pendingPages(deps.store, 'parse')) {
    for (const { work, dueAt } of page) {
      const isProcessing = deps.store.read(reader => getMessage(reader, work.id)?.status === 'processing');
      if (isProcessing) {
        await deps.store.write(writer => returnToPending(writer, work.id, dueAt, deps.clock()));
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
 * An admin asks for a new try: the message is `pending` again, and what was prepared of it is let go. Its
 * conversation does not show it meanwhile, and has it back when it is ready.
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
      for (const { blob } of record.attachments) releaseBlob(writer, blob.id, nowMs);
      if (record.content?.in === 'blob') releaseBlob(writer, record.content.blob.id, nowMs);
      if (record.content?.in === 'record') writer.remove(contentsTable, record.id);
      saveMessage(writer, record, again);
      addPending(writer, nowMs, { kind: 'parse', id: record.id });
    }
    return { id: record.id, processing_status: 'pending' as const };
  });
}

function unprepared(record: ReceivedRecord, nowMs: number): ReceivedRecord {
  return {
    ...record,
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
