import { notFound } from '../../domain/errors.js';
import { type AccountId, type MessageId, toId } from '../../domain/ids.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import type { IndexedMessage } from '../../store/mailbox/index.js';
import type { MessageKind } from '../../store/mailbox/mailboxes.js';
import {
  blobsOf,
  blobsOfSent,
  encodeSentSummary,
  encodeSummary,
  getMessage,
  getSent,
  type ReceivedRecord,
  removeMessage,
  removeSent,
  type SentRecord,
  saveMessage,
  saveSent,
} from '../../store/mailbox/messages.js';
import type { AccountPermissions } from '../../store/records/accounts.js';
import { releaseBlob } from '../../store/records/blobs.js';
import { getInbox } from '../../store/records/inboxes.js';
import { removePending } from '../../store/records/pending.js';
import { checkPermitted } from '../shared/callers.js';

/**
 * What labels, Trash and deletion need of a kind of message. They are written once, for any kind; a kind says
 * how its records are read, written and erased.
 */
export interface MessageAccess<Message extends IndexedMessage> {
  readonly get: (reader: Reader, id: string) => Message | undefined;
  readonly save: (writer: Writer, before: Message, after: Message) => void;
  /** Takes the record and all that belongs to it out of the store; its bytes are left to the sweeper. */
  readonly erase: (writer: Writer, message: Message, nowMs: number) => void;
}

export const receivedMessages: MessageAccess<ReceivedRecord> = {
  get: (reader, id) => {
    const messageId = toId<MessageId>(id);
    return messageId === null ? undefined : getMessage(reader, messageId);
  },
  save: (writer, before, after) => saveMessage(writer, before, after, encodeSummary(after)),
  erase: (writer, message, nowMs) => {
    if (message.parseDueAt !== null) {
      removePending(writer, { kind: 'parse', dueAt: message.parseDueAt, id: message.id });
    }
    forgetTrashing(writer, message);
    for (const blob of blobsOf(message)) releaseBlob(writer, blob, nowMs);
    removeMessage(writer, message);
  },
};

/**
 * Sent copies. Erasing one does not refund what it cost and does not free its key; an attempt that has not
 * started yet never will.
 */
export const sentMessages: MessageAccess<SentRecord> = {
  get: (reader, id) => {
    const messageId = toId<MessageId>(id);
    return messageId === null ? undefined : getSent(reader, messageId);
  },
  save: (writer, before, after) => saveSent(writer, before, after, encodeSentSummary(after)),
  erase: (writer, message, nowMs) => {
    if (message.relayDueAt !== null) {
      const kind = message.attempt === 'held' ? 'relay-held' : 'relay';
      removePending(writer, { kind, dueAt: message.relayDueAt, id: message.id });
    }
    forgetTrashing(writer, message);
    for (const blob of blobsOfSent(message)) releaseBlob(writer, blob, nowMs);
    removeSent(writer, message);
  },
};

function forgetTrashing(writer: Writer, { id, trash }: IndexedMessage): void {
  if (trash !== null) removePending(writer, { kind: 'purge-trash', dueAt: trash.restorableUntil, id });
}

/** Erases a message of either kind if it is the one that is meant; false when there is none. */
export function eraseMessage(
  writer: Writer,
  kind: MessageKind,
  id: string,
  nowMs: number,
  isMeant: (message: IndexedMessage) => boolean = () => true,
): boolean {
  const erase = <Message extends IndexedMessage>(access: MessageAccess<Message>): boolean => {
    const message = access.get(writer, id);
    if (message === undefined) return false;
    if (isMeant(message)) access.erase(writer, message, nowMs);
    return true;
  };
  return kind === 'received' ? erase(receivedMessages) : erase(sentMessages);
}

/**
 * A live message of the caller. One in Trash is as missing as one that never was (decisions, Trash); the
 * inbox decides the owner, so that mail of a deleted inbox is gone at once.
 */
export function ownedMessage<Message extends IndexedMessage>(
  reader: Reader,
  access: MessageAccess<Message>,
  accountId: AccountId,
  id: string,
): Message {
  const owned = findOwnedMessage(reader, access, accountId, id);
  if (owned === null) throw notFound('message');
  return owned;
}

/** The same, null when it is missing. */
export function findOwnedMessage<Message extends IndexedMessage>(
  reader: Reader,
  access: MessageAccess<Message>,
  accountId: AccountId,
  id: string,
): Message | null {
  const owned = findAnywhere(reader, access, accountId, id);
  return owned?.trash === null ? owned : null;
}

/** A message of the caller, live or in Trash; null when it is missing. */
function findAnywhere<Message extends IndexedMessage>(
  reader: Reader,
  access: MessageAccess<Message>,
  accountId: AccountId,
  id: string,
): Message | null {
  const message = access.get(reader, id);
  if (message === undefined || getInbox(reader, message.inboxId)?.accountId !== accountId) return null;
  return message;
}

/** What an agent asks for with a message's id. */
export interface MessageInput {
  readonly accountId: AccountId;
  readonly messageId: string;
}

/**
 * A message, live or still in Trash, that its owner may do something to: ownership comes before permission
 * (decisions, HTTP order of checks).
 */
export function permittedMessage<Message extends IndexedMessage>(
  reader: Reader,
  access: MessageAccess<Message>,
  input: MessageInput,
  permission: keyof AccountPermissions,
  nowMs: number,
): Message {
  const owned = findAnywhere(reader, access, input.accountId, input.messageId);
  if (owned === null || isOver(owned, nowMs)) throw notFound('message');
  checkPermitted(reader, input.accountId, permission);
  return owned;
}

/** Its time in Trash has ended: gone, whether the sweeper has come by or not. */
export function isOver(message: IndexedMessage, nowMs: number): boolean {
  return message.trash !== null && message.trash.restorableUntil <= nowMs;
}
