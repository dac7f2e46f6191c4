import { ok, type Result } from '../domain/errors.js';
import { DAY_MS, toInstant } from '../domain/instants.js';
import type { IndexedMessage } from '../store/mailbox-index.js';
import { memberOutcome } from '../store/move-in-threads.js';
import { addPending, removePending } from '../store/pending.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { takeTrashNumber } from '../store/trash.js';
import { type MessageAccess, type MessageInput, permittedMessage } from './message-access.js';
import type { Clock } from './ports.js';
import { withShownThread } from './shown-thread.js';

export interface TrashDeps<Message extends IndexedMessage> {
  readonly store: Store;
  readonly clock: Clock;
  readonly access: MessageAccess<Message>;
  /** How long a message can be restored. */
  readonly retentionDays: number;
}

/** Answer to a `/trash` operation (decisions, Trash). */
export interface Trashed {
  readonly id: string;
  readonly inbox_id: string;
  readonly status: 'trashed' | 'already_trashed';
  readonly deleted_at: string;
  readonly restorable_until: string;
}

/** Moves a message to Trash: out of every list, count and set, and out of reach but for restoring and deleting. */
export async function trashMessage<Message extends IndexedMessage>(
  deps: TrashDeps<Message>,
  input: MessageInput,
): Promise<Result<Trashed>> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const found = permittedMessage(writer, deps.access, input, 'delete', nowMs);
    return found.ok ? ok(trashNow(writer, deps, found.value, nowMs)) : found;
  });
}

/** The same, whoever asked. */
export function trashNow<Message extends IndexedMessage>(
  writer: Writer,
  deps: Pick<TrashDeps<Message>, 'access' | 'retentionDays'>,
  message: Message,
  nowMs: number,
): Trashed {
  const place = message.trash ?? moveToTrash(writer, deps, message, nowMs);
  return {
    id: message.id,
    inbox_id: message.inboxId,
    status: message.trash === null ? 'trashed' : 'already_trashed',
    deleted_at: toInstant(place.deletedAt),
    restorable_until: toInstant(place.restorableUntil),
  };
}

/** Puts a live message into Trash as of `nowMs` and has it erased when its time is over. */
export function moveToTrash<Message extends IndexedMessage>(
  writer: Writer,
  deps: Pick<TrashDeps<Message>, 'access' | 'retentionDays'>,
  message: Message,
  nowMs: number,
): NonNullable<IndexedMessage['trash']> {
  const trash = {
    number: takeTrashNumber(writer, message.inboxId),
    deletedAt: nowMs,
    restorableUntil: nowMs + deps.retentionDays * DAY_MS,
  };
  deps.access.save(writer, message, { ...message, trash });
  addPending(writer, trash.restorableUntil, { kind: 'purge-trash', id: message.id, message: message.kind });
  return trash;
}

/** Wire contract, `Restored`. */
export interface Restored {
  readonly id: string;
  readonly inbox_id: string;
  readonly thread_id: string | null;
  readonly status: 'restored' | 'already_live';
  readonly message: string;
}

/** Brings a message back from Trash with its labels; `not_found` from the end of its time on, swept or not. */
export async function restoreMessage<Message extends IndexedMessage>(
  deps: Omit<TrashDeps<Message>, 'retentionDays'>,
  input: MessageInput,
): Promise<Result<Restored>> {
  return deps.store.write(writer => {
    const found = permittedMessage(writer, deps.access, input, 'restore', deps.clock());
    return found.ok ? ok(restoreNow(writer, deps.access, found.value)) : found;
  });
}

/** The same, whoever asked. */
export function restoreNow<Message extends IndexedMessage>(
  writer: Writer,
  access: MessageAccess<Message>,
  message: Message,
): Restored {
  const { trash } = message;
  const restored: Message = { ...message, trash: null };
  if (trash !== null) {
    removePending(writer, { kind: 'purge-trash', dueAt: trash.restorableUntil, id: message.id });
    access.save(writer, message, restored);
  }
  return {
    id: message.id,
    inbox_id: message.inboxId,
    // Null for a message that is not ready (wire contract, `Restored`).
    thread_id: memberOutcome(restored) === null ? null : withShownThread(writer, restored).threadId,
    status: trash === null ? 'already_live' : 'restored',
    message: trash === null ? 'The message was not in Trash.' : 'The message is back with its labels.',
  };
}
