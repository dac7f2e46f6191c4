import type { ParsedAddress } from '../domain/content.js';
import type { MessageId } from '../domain/ids.js';
import { toInstant } from '../domain/instants.js';
import type { Mailbox } from '../domain/submission.js';
import { summariesTable } from '../store/mailboxes.js';
import type { Reader } from '../store/reader-writer.js';
import { getSent, type SentRecord } from '../store/sent.js';
import { idField } from '../store/summary-fields.js';
import type { MemberPosition } from '../store/thread-members.js';
import { memberCount, type ThreadRecord } from '../store/threads.js';

/** What lists and details say of a conversation (wire contract, `ThreadBase`). */
export interface ThreadBase {
  readonly id: string;
  readonly inbox_id: string;
  readonly subject: string | null;
  readonly last_activity_at: string;
  readonly message_count: number;
  readonly received_count: number;
  readonly accepted_count: number;
  readonly rejected_count: number;
  readonly unknown_count: number;
}

/** Wire contract, `ThreadLatestMessage`; previews are an extension that is asked for. */
export type LatestMessage =
  | { readonly id: string; readonly direction: 'received'; readonly counterpart: ParsedAddress | null }
  | { readonly id: string; readonly direction: 'sent'; readonly counterpart: Mailbox | null };

/** Which members meet a filter. */
export interface Matching {
  /** Newest first, at most a hundred. */
  readonly ids: readonly MessageId[];
  readonly count: number;
}

/** Wire contract, `ThreadSummary`. */
export interface ThreadSummary extends ThreadBase {
  readonly latest_message: LatestMessage;
  readonly matching_message_ids?: readonly string[];
  readonly matching_message_count?: number;
}

export function viewThread(reader: Reader, thread: ThreadRecord): ThreadBase {
  const { inboxId, shown, counts, earliest, latest } = thread;
  return {
    id: shown,
    inbox_id: inboxId,
    subject: earliest === null ? null : (faceOf(reader, thread, earliest)?.subject ?? null),
    last_activity_at: toInstant(latest?.at ?? 0),
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
  const latest = thread.latest === null ? null : faceOf(reader, thread, thread.latest);
  if (latest === null) return null;
  const matches =
    matching === null ? {} : { matching_message_ids: matching.ids, matching_message_count: matching.count };
  return { ...viewThread(reader, thread), latest_message: latest.message, ...matches };
}

/** What a conversation shows of one of its members. */
interface Face {
  readonly subject: string | null;
  readonly message: LatestMessage;
}

function faceOf(reader: Reader, { inboxId }: ThreadRecord, { kind, seq }: MemberPosition): Face | null {
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
export function sentOf(reader: Reader, summary: Buffer): SentRecord | undefined {
  const id = idField<MessageId>(summary, 'id');
  return id === null ? undefined : getSent(reader, id);
}

/** Lower case and without a name (wire contract 3.20). */
function firstRecipient({ to }: SentRecord): Mailbox | null {
  const [first] = to;
  return first === undefined ? null : { address: first.address.toLowerCase() };
}
