import type { Deleted } from '../../contract/common.js';
import type { BulkLabelChange, LabelChange, LabelResult } from '../../contract/labels.js';
import { MAX_BATCH } from '../../contract/limits.js';
import type { Restored, Trashed } from '../../contract/trash.js';
import { notFound, refuse } from '../../domain/errors.js';
import { isUuid } from '../../domain/ids.js';
import { DAY_MS, toInstant } from '../../domain/instants.js';
import {
  applyLabelChange,
  type LabelChange as CheckedChange,
  normaliseLabelChange,
} from '../../domain/labels.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import type { MessageKind } from '../../store/mailbox/folders.js';
import { takeTrashNumber } from '../../store/mailbox/index.js';
import { type MessageRecord, saveMessage } from '../../store/mailbox/messages.js';
import { noteEvent } from '../../store/records/events.js';
import { addPending, removePending } from '../../store/records/pending.js';
import { noteRestored } from '../../store/records/search.js';
import { memberOutcome } from '../../store/threads/move.js';
import { withShownThread } from '../../store/threads/names.js';
import type { Clock } from '../ports.js';
import type { Caller } from '../shared/callers.js';
import { eraseMessage, find, locate, type MessageInput } from './message-access.js';

/** Of which kind the message is that is meant. */
export interface OfKind {
  readonly kind: MessageKind;
}

/** Adds and removes labels of one message together (`updateMessageLabels`). */
export async function changeLabels(
  deps: { readonly store: Store },
  input: MessageInput & LabelChange & OfKind,
): Promise<LabelResult> {
  const change = normaliseLabelChange(input.add_labels, input.remove_labels);
  return deps.store.write(writer => {
    const message = locate(writer, input, { kinds: [input.kind], trash: 'live' });
    return applyChange(writer, message, change);
  });
}

/**
 * The same for up to a hundred messages of one account, over any of its inboxes, all or nothing: one unit of
 * work, which looks at every target before it changes the first.
 */
export async function changeLabelsInBatch(
  deps: { readonly store: Store },
  input: Caller & BulkLabelChange & OfKind,
): Promise<readonly LabelResult[]> {
  const { message_ids: messageIds } = input;
  if (messageIds.length < 1 || messageIds.length > MAX_BATCH || !messageIds.every(isUuid)) {
    throw refuse('invalid_message_ids', `message_ids must be 1 to ${MAX_BATCH} message ids.`);
  }
  const change = normaliseLabelChange(input.add_labels, input.remove_labels);
  return deps.store.write(writer => {
    const targets = [...new Set(messageIds)].map(id => {
      const message = find(writer, input, id, { kinds: [input.kind], trash: 'live' });
      // Which one it was is not told: it may be another account's.
      if (message === null) throw notFound('message among message_ids');
      return message;
    });
    return targets.map(target => applyChange(writer, target, change));
  });
}

/** The same within a unit of work that has found the message. */
export function applyChange(writer: Writer, message: MessageRecord, change: CheckedChange): LabelResult {
  const labels = applyLabelChange(message.labels, change);
  const isSame =
    labels.length === message.labels.length && labels.every((label, at) => label === message.labels[at]);
  if (!isSame) saveMessage(writer, message, { ...message, labels });
  return { id: message.id, labels };
}

export interface TrashDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long a message can be restored. */
  readonly retentionDays: number;
}

/** Moves a message to Trash: out of every list, count and set, and out of reach but for restoring and deleting. */
export async function trashMessage(deps: TrashDeps, input: MessageInput & OfKind): Promise<Trashed> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const message = locate(writer, input, {
      kinds: [input.kind],
      trash: { restorableAt: nowMs },
      may: 'delete',
    });
    const place = message.trash ?? moveToTrash(writer, deps, message, nowMs);
    return {
      id: message.id,
      inbox_id: message.inboxId,
      status: message.trash === null ? 'trashed' : 'already_trashed',
      deleted_at: toInstant(place.deletedAt),
      restorable_until: toInstant(place.restorableUntil),
    };
  }, 'settle');
}

/** Puts a live message into Trash as of `nowMs` and has it erased when its time is over. */
export function moveToTrash(
  writer: Writer,
  deps: Pick<TrashDeps, 'retentionDays'>,
  message: MessageRecord,
  nowMs: number,
): NonNullable<MessageRecord['trash']> {
  const trash = {
    number: takeTrashNumber(writer, message.inboxId),
    deletedAt: nowMs,
    restorableUntil: nowMs + deps.retentionDays * DAY_MS,
  };
  saveMessage(writer, message, { ...message, trash });
  addPending(writer, trash.restorableUntil, { kind: 'purge-trash', id: message.id, message: message.kind });
  const { inboxId, id: messageId, kind } = message;
  noteEvent(writer, { type: 'trash.moved', inboxId, messageId, kind }, nowMs);
  return trash;
}

/** Restores a message from Trash with its labels; `not_found` once its time is over, swept or not. */
export async function restoreMessage(
  deps: Omit<TrashDeps, 'retentionDays'>,
  input: MessageInput & OfKind,
): Promise<Restored> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const trash = { restorableAt: nowMs };
    const message = locate(writer, input, { kinds: [input.kind], trash, may: 'restore' });
    return restore(writer, message, nowMs);
  });
}

function restore(writer: Writer, message: MessageRecord, nowMs: number): Restored {
  const { trash, inboxId, id: messageId, kind } = message;
  const restored: MessageRecord = { ...message, trash: null };
  if (trash !== null) {
    removePending(writer, { kind: 'purge-trash', dueAt: trash.restorableUntil, id: message.id });
    saveMessage(writer, message, restored);
    noteRestored(writer, restored);
    noteEvent(writer, { type: 'trash.restored', inboxId, messageId, kind }, nowMs);
  }
  return {
    id: message.id,
    inbox_id: message.inboxId,
    // Null for a message that is not ready: it has no conversation yet.
    thread_id: memberOutcome(restored) === null ? null : withShownThread(writer, restored).threadId,
    status: trash === null ? 'already_live' : 'restored',
    message: trash === null ? 'The message was not in Trash.' : 'The message is back with its labels.',
  };
}

/**
 * Deletes a message for good (`deleteMessage`, `deleteSentMessage`), in any processing state, live or in Trash. It is
 * out of reach when this resolves; the sweeper frees its bytes later.
 */
export function deleteMessage(
  deps: { readonly store: Store; readonly clock: Clock },
  input: MessageInput & OfKind,
): Promise<Deleted> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const message = locate(writer, input, {
      kinds: [input.kind],
      trash: { restorableAt: nowMs },
      may: 'delete',
    });
    eraseMessage(writer, message, nowMs);
    return {
      id: message.id,
      status: 'deletion_pending',
      message: 'The message is gone; its stored bytes are being removed.',
    };
  }, 'settle');
}
