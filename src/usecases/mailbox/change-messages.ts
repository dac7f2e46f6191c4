import { notFound, refuse } from '../../domain/errors.js';
import { type AccountId, isUuid } from '../../domain/ids.js';
import { DAY_MS, toInstant } from '../../domain/instants.js';
import { applyLabelChange, type LabelChange, normaliseLabelChange } from '../../domain/labels.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { type IndexedMessage, takeTrashNumber } from '../../store/mailbox/index.js';
import type { ReceivedRecord } from '../../store/mailbox/messages.js';
import { getInbox } from '../../store/records/inboxes.js';
import { addPending, removePending } from '../../store/records/pending.js';
import { memberOutcome } from '../../store/threads/move.js';
import type { Clock } from '../ports.js';
import { withShownThread } from '../threads/read-thread.js';
import {
  findOwnedMessage,
  isOver,
  type MessageAccess,
  type MessageInput,
  ownedMessage,
  permittedMessage,
  receivedMessages,
  sentMessages,
} from './message-access.js';

export interface LabelInput {
  readonly accountId: AccountId;
  readonly addLabels: readonly string[];
  readonly removeLabels: readonly string[];
}

/** A message's labels after a change (wire contract, `LabelResult`). */
export interface LabelResult {
  readonly id: string;
  readonly labels: readonly string[];
}

type ChangeDeps<Message extends IndexedMessage> = {
  readonly store: Store;
  readonly access: MessageAccess<Message>;
};

/** Adds and removes labels of one message together (specification, "Labels: update rules"). */
export async function changeLabels<Message extends IndexedMessage>(
  deps: ChangeDeps<Message>,
  input: LabelInput & { readonly messageId: string },
): Promise<LabelResult> {
  const change = normaliseLabelChange(input.addLabels, input.removeLabels);
  return deps.store.write(writer => {
    const owned = ownedMessage(writer, deps.access, input.accountId, input.messageId);
    return applyChange(writer, deps.access, owned, change);
  });
}

const MAX_BATCH = 100;

/**
 * The same for up to a hundred messages of one account, over any of its inboxes, all or nothing: one unit of
 * work, which looks at every target before it changes the first.
 */
export async function changeLabelsInBatch<Message extends IndexedMessage>(
  deps: ChangeDeps<Message>,
  input: LabelInput & { readonly messageIds: readonly string[] },
): Promise<readonly LabelResult[]> {
  const { messageIds } = input;
  if (messageIds.length < 1 || messageIds.length > MAX_BATCH || !messageIds.every(isUuid)) {
    throw refuse('invalid_message_ids', `message_ids must be 1 to ${MAX_BATCH} message ids.`);
  }
  const change = normaliseLabelChange(input.addLabels, input.removeLabels);
  return deps.store.write(writer => {
    const targets = [...new Set(messageIds)].map(id => {
      const owned = findOwnedMessage(writer, deps.access, input.accountId, id);
      // Which one it was is not told: it may be another account's.
      if (owned === null) throw notFound('message among message_ids');
      return owned;
    });
    return targets.map(target => applyChange(writer, deps.access, target, change));
  });
}

/** The same within a unit of work that has found the message. */
export function applyChange<Message extends IndexedMessage>(
  writer: Writer,
  access: MessageAccess<Message>,
  message: Message,
  change: LabelChange,
): LabelResult {
  const labels = applyLabelChange(message.labels, change);
  const isSame =
    labels.length === message.labels.length && labels.every((label, at) => label === message.labels[at]);
  if (!isSame) access.save(writer, message, { ...message, labels });
  return { id: message.id, labels };
}

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
): Promise<Trashed> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const found = permittedMessage(writer, deps.access, input, 'delete', nowMs);
    return trashNow(writer, deps, found, nowMs);
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
): Promise<Restored> {
  return deps.store.write(writer => {
    const found = permittedMessage(writer, deps.access, input, 'restore', deps.clock());
    return restoreNow(writer, deps.access, found);
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

/** Answer to a deletion (wire contract, `Deleted`). */
export interface Deleted {
  readonly id: string;
  readonly status: 'deletion_pending';
  readonly message: string;
}

/**
 * Deletes a message for good, finished or not, live or in Trash (specification, Deletion): out of reach when
 * this resolves, its bytes freed by the sweeper.
 */
export function deleteMessage<Message extends IndexedMessage>(
  deps: { readonly store: Store; readonly clock: Clock; readonly access: MessageAccess<Message> },
  input: MessageInput,
): Promise<Deleted> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const found = permittedMessage(writer, deps.access, input, 'delete', nowMs);
    return eraseNow(writer, deps.access, found, nowMs);
  });
}

/** The same, whoever asked. */
export function eraseNow<Message extends IndexedMessage>(
  writer: Writer,
  access: MessageAccess<Message>,
  message: Message,
  nowMs: number,
): Deleted {
  access.erase(writer, message, nowMs);
  return {
    id: message.id,
    status: 'deletion_pending',
    message: 'The message is gone; its stored bytes are being removed.',
  };
}

/**
 * An admin acts on a message of any account. The account's permissions bind its agents, not the admin who
 * gave them; what is over for them, a message past its time in Trash, is over for the admin too.
 */
interface AdminDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export function trashAnyMessage(
  deps: AdminDeps & { readonly retentionDays: number },
  messageId: string,
): Promise<Trashed> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const found = anyMessage(writer, messageId, nowMs);
    return trashNow(writer, { ...deps, access: receivedMessages }, found, nowMs);
  });
}

export function restoreAnyMessage(deps: AdminDeps, messageId: string): Promise<Restored> {
  return deps.store.write(writer => {
    const found = anyMessage(writer, messageId, deps.clock());
    return restoreNow(writer, receivedMessages, found);
  });
}

export function deleteAnyMessage(deps: AdminDeps, messageId: string): Promise<Deleted> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const found = anyMessage(writer, messageId, nowMs);
    return eraseNow(writer, receivedMessages, found, nowMs);
  });
}

/** A message, live or in Trash, of an inbox that is there. */
export function anyMessage(reader: Reader, messageId: string, nowMs: number): ReceivedRecord {
  const message = receivedMessages.get(reader, messageId);
  const isThere =
    message !== undefined && getInbox(reader, message.inboxId) !== undefined && !isOver(message, nowMs);
  if (!isThere) throw notFound(`message ${messageId}`);
  return message;
}

/** The account that a message, received or sent, belongs to: an admin reads any message, in its owner's name. */
export function findMessageOwner(reader: Reader, messageId: string): AccountId {
  const message = receivedMessages.get(reader, messageId) ?? sentMessages.get(reader, messageId);
  const inbox = message === undefined ? undefined : getInbox(reader, message.inboxId);
  if (inbox === undefined) throw notFound(`message ${messageId}`);
  return inbox.accountId;
}
