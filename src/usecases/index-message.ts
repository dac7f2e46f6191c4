import type { MessageId } from '../domain/ids.js';
import type { AttachmentSink } from '../mail/parsed-message.js';
import { readBlob } from '../store/blob-reader.js';
import type { BlobUpload, BlobUploads } from '../store/blob-upload.js';
import { CHUNK_BYTES } from '../store/blobs.js';
import {
  type ContentPlace,
  contentsTable,
  getMessage,
  putMessage,
  type ReceivedRecord,
} from '../store/messages.js';
import { addPending, removePending } from '../store/pending.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import type { Clock, Logger, MessageParser, ParseOutcome, PreparedContent } from './ports.js';
import { encodeSummary } from './received-view.js';

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
 * Received mail). The content, its attachments and the word `ready` appear in one commit. Calling it
 * twice for one message, at once or later, does no harm: whoever publishes first wins.
 */
export async function indexMessage(deps: IndexDeps, id: MessageId): Promise<IndexOutcome> {
  const { store, uploads, clock } = deps;
  const record = await store.write(writer => beginTry(writer, id));
  if (record === null) return { status: 'done' };

  const attachments = new AttachmentUploads(uploads);
  const outcome = await deps.parser.parse(readBlob(store, record.raw), attachments);
  if (outcome.status !== 'parsed') {
    attachments.abort();
    return store.write(writer => giveUpTry(writer, deps, id, outcome));
  }
  const content = await uploadContent(uploads, outcome.prepared);
  try {
    const isPublished = await store.write(writer =>
      publish(writer, id, outcome.prepared, content, attachments, clock()),
    );
    if (!isPublished) abortAll(attachments, content);
  } catch (error) {
    abortAll(attachments, content);
    throw error;
  }
  return { status: 'done' };
}

/** Null when there is nothing to do: the message is gone, or it is finished. */
function beginTry(writer: Writer, id: MessageId): ReceivedRecord | null {
  const record = getMessage(writer, id);
  if (record === undefined || record.parseDueAt === null) return null;
  const begun: ReceivedRecord = { ...record, status: 'processing', tries: record.tries + 1 };
  putMessage(writer, begun, encodeSummary(begun, null));
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
    saveUnfinished(writer, { ...record, status: 'pending', tries: record.tries - 1 }, record.parseDueAt);
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
  saveUnfinished(writer, { ...record, status: 'pending' }, dueAt);
  return { status: 'again', dueAt };
}

/** Writes a message that is still to be parsed, and moves its pending entry to `dueAt`. */
function saveUnfinished(writer: Writer, record: ReceivedRecord, dueAt: number): void {
  if (record.parseDueAt !== null && record.parseDueAt !== dueAt) {
    removePending(writer, { kind: 'parse', dueAt: record.parseDueAt, id: record.id });
    addPending(writer, dueAt, { kind: 'parse', id: record.id });
  }
  const saved = { ...record, parseDueAt: dueAt };
  putMessage(writer, saved, encodeSummary(saved, null));
}

/** Ends the attempts: the message is `failed`, its raw bytes stay. */
export function failMessage(writer: Writer, record: ReceivedRecord, failure: string, nowMs: number): void {
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
  putMessage(writer, failed, encodeSummary(failed, null));
}

type PendingContent = { in: 'record'; bytes: Buffer } | { in: 'blob'; upload: BlobUpload };

/** Content up to one chunk stays beside the record; a longer one is uploaded like any blob. */
async function uploadContent(uploads: BlobUploads, prepared: PreparedContent): Promise<PendingContent> {
  const { json } = prepared;
  if (json.length <= CHUNK_BYTES) return { in: 'record', bytes: Buffer.from(json) };
  const upload = uploads.begin();
  for (let at = 0; at < json.length; at += CHUNK_BYTES) {
    if (!upload.write(json.subarray(at, at + CHUNK_BYTES))) await upload.drained();
  }
  return { in: 'blob', upload };
}

function publish(
  writer: Writer,
  id: MessageId,
  prepared: PreparedContent,
  content: PendingContent,
  attachments: AttachmentUploads,
  nowMs: number,
): boolean {
  const record = getMessage(writer, id);
  if (record === undefined || record.parseDueAt === null) return false;
  removePending(writer, { kind: 'parse', dueAt: record.parseDueAt, id });
  let place: ContentPlace = { in: 'record' };
  if (content.in === 'blob') place = { in: 'blob', blob: content.upload.finish(writer) };
  else writer.put(contentsTable, id, content.bytes);
  const ready: ReceivedRecord = {
    ...record,
    status: 'ready',
    parseDueAt: null,
    processedAt: nowMs,
    failure: null,
    subject: prepared.subject,
    messageId: prepared.messageId,
    content: place,
    attachments: attachments.finish(writer),
  };
  putMessage(writer, ready, encodeSummary(ready, prepared.from));
  return true;
}

function abortAll(attachments: AttachmentUploads, content: PendingContent): void {
  attachments.abort();
  if (content.in === 'blob') content.upload.abort();
}

/** Attachment bytes on their way from the parser into the store, one blob an attachment. */
class AttachmentUploads implements AttachmentSink {
  readonly #uploads: BlobUploads;
  readonly #begun: { id: string; upload: BlobUpload }[] = [];

  constructor(uploads: BlobUploads) {
    this.#uploads = uploads;
  }

  begin(id: string): void {
    this.#begun.push({ id, upload: this.#uploads.begin() });
  }

  write(chunk: Uint8Array): void | Promise<void> {
    const current = this.#begun.at(-1);
    if (current === undefined) throw new Error('attachment bytes before any attachment was begun');
    if (!current.upload.write(chunk)) return current.upload.drained();
  }

  end(): void {}

  finish(writer: Writer): ReceivedRecord['attachments'] {
    return this.#begun.map(({ id, upload }) => ({ id, blob: upload.finish(writer) }));
  }

  abort(): void {
    for (const { upload } of this.#begun) upload.abort();
  }
}
