import { notFound, refuse } from '../../domain/errors.js';
import { type MessageId, toId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { getSent, type SentRecord, saveAttempt } from '../../store/mailbox/messages.js';
import { getInbox } from '../../store/records/inboxes.js';
import {
  addPending,
  type DueWork,
  END_OF_TIME,
  listDue,
  oldestDueAge,
  pendingPages,
  removePending,
} from '../../store/records/pending.js';
import type { Clock } from '../ports.js';

/** What waits to be parsed, sent or delivered, for the admin. An age is how long the oldest has been due. */
export interface QueueStatus {
  readonly parse: { readonly waiting: number; readonly oldest_age_s: number | null };
  readonly relay: {
    /** Reserved, not started. */
    readonly waiting: number;
    /** Started, without an outcome yet. */
    readonly started: number;
    readonly oldest_age_s: number | null;
  };
  /** Deliveries to other mail servers that have not ended, those under way included (`delivery-admin.ts`). */
  readonly deliver: { readonly waiting: number; readonly oldest_age_s: number | null };
  /** Sends that do not start by themselves: a day old, in Trash, or from before a restore. */
  readonly held: readonly HeldSend[];
  /** More is waiting than was counted: the numbers are lower bounds. */
  readonly is_partial: boolean;
}

export interface HeldSend {
  readonly id: string;
  readonly inbox_id: string;
  readonly created_at: string;
  readonly subject: string;
  readonly in_trash: boolean;
}

/** Entries of one kind that are counted at most. */
const MAX_LOOKED_AT = 10_000;
const MAX_HELD_SHOWN = 100;

export function queueStatus(deps: { readonly store: Store; readonly clock: Clock }): QueueStatus {
  return deps.store.read(reader => {
    const nowMs = deps.clock();
    const parse = listDue(reader, 'parse', END_OF_TIME, MAX_LOOKED_AT);
    const relay = listDue(reader, 'relay', END_OF_TIME, MAX_LOOKED_AT);
    const started = relay.filter(({ work }) => getSent(reader, work.id)?.attempt === 'started').length;
    const deliver = listDue(reader, 'deliver', END_OF_TIME, MAX_LOOKED_AT);
    const held = listDue(reader, 'relay-held', END_OF_TIME, MAX_HELD_SHOWN);
    return {
      parse: { waiting: parse.length, oldest_age_s: ageOf(reader, 'parse', nowMs) },
      relay: { waiting: relay.length - started, started, oldest_age_s: ageOf(reader, 'relay', nowMs) },
      deliver: { waiting: deliver.length, oldest_age_s: ageOf(reader, 'deliver', nowMs) },
      held: held.flatMap(({ work }) => viewHeld(getSent(reader, work.id))),
      is_partial:
        [parse, relay, deliver].some(({ length }) => length === MAX_LOOKED_AT) ||
        held.length === MAX_HELD_SHOWN,
    };
  });
}

function ageOf(reader: Reader, kind: 'parse' | 'relay' | 'deliver', nowMs: number): number | null {
  const ageMs = oldestDueAge(reader, kind, nowMs);
  return ageMs === null ? null : Math.floor(ageMs / 1000);
}

function viewHeld(record: SentRecord | undefined): HeldSend[] {
  if (record === undefined) return [];
  const { id, inboxId: inbox_id, createdAt, subject, trash } = record;
  return [{ id, inbox_id, created_at: toInstant(createdAt), subject, in_trash: trash !== null }];
}

/** The result of a retry. */
export interface Retried {
  /** Held before; to be sent now. */
  readonly retried: readonly string[];
}

/**
 * Lets sends start that never did: one, or all that are held but for those in Trash. The daemon takes them up
 * within a minute. A send that was started, whatever its outcome, is refused: it may have gone out.
 */
export async function retrySends(
  deps: { readonly store: Store; readonly clock: Clock },
  id: string | null,
): Promise<Retried> {
  if (id !== null) return deps.store.write(writer => retryOne(writer, id, deps.clock()), 'settle');
  const retried: string[] = [];
  for (const page of pendingPages(deps.store, 'relay-held')) {
    const nowMs = deps.clock();
    retried.push(
      ...(await deps.store.write(writer => page.flatMap(due => release(writer, due, nowMs)), 'settle')),
    );
  }
  return { retried };
}

function retryOne(writer: Writer, id: string, nowMs: number): Retried {
  const sentId = toId<MessageId>(id);
  const record = sentId === null ? undefined : getSent(writer, sentId);
  if (record === undefined || getInbox(writer, record.inboxId) === undefined) {
    throw notFound(`sent message ${id}`);
  }
  if (record.attempt === 'reserved') return { retried: [] };
  if (record.attempt !== 'held' || record.relayDueAt === null) {
    throw refuse(
      'invalid_request',
      `The attempt of ${id} was started (its status is ${record.status}): it may have gone out and is never sent again.`,
    );
  }
  if (record.trash !== null) {
    throw refuse(
      'invalid_request',
      `The message ${id} is in Trash and is not sent from there: restore it first.`,
    );
  }
  const due = { dueAt: record.relayDueAt, work: { kind: 'relay-held', id: record.id } } as const;
  return { retried: release(writer, due, nowMs) };
}

function release(
  writer: Writer,
  { dueAt, work }: Pick<DueWork<'relay-held'>, 'dueAt' | 'work'>,
  nowMs: number,
): string[] {
  const record = getSent(writer, work.id);
  if (record?.attempt === 'held' && record.trash !== null) return [];
  removePending(writer, { kind: 'relay-held', dueAt, id: work.id });
  if (record?.attempt !== 'held') return [];
  addPending(writer, nowMs, { kind: 'relay', id: record.id });
  const reserved: SentRecord = { ...record, attempt: 'reserved', relayDueAt: nowMs };
  saveAttempt(writer, reserved);
  return [record.id];
}
