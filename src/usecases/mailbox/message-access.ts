import { notFound } from '../../domain/errors.js';
import { type MessageId, toId } from '../../domain/ids.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import type { MessageKind } from '../../store/mailbox/folders.js';
import {
  blobsOf,
  getMessage,
  getSent,
  type MessageRecord,
  removeMessage,
} from '../../store/mailbox/messages.js';
import type { AccountPermissions } from '../../store/records/accounts.js';
import { releaseBlob } from '../../store/records/blobs.js';
import { deliveriesOf, forgetDeliveries, hasEnded, saveDelivery } from '../../store/records/deliveries.js';
import { noteEvent } from '../../store/records/events.js';
import { getInbox } from '../../store/records/inboxes.js';
import { removePending } from '../../store/records/pending.js';
import { dropWords } from '../../store/records/search.js';
import { abandoned } from '../sending/delivery-states.js';
import { type Caller, checkPermitted, reachedInbox } from '../shared/callers.js';

/** The messages of a kind, or of one of several. */
export type MessageOf<Kind extends MessageKind> = Extract<MessageRecord, { readonly kind: Kind }>;

/** A message of a kind by its id, wherever it is and whoever owns it. */
export function getMessageOf<Kind extends MessageKind>(
  reader: Reader,
  kind: Kind,
  id: MessageId,
): MessageOf<Kind> | undefined {
  const record: MessageRecord | undefined =
    kind === 'received' ? getMessage(reader, id) : getSent(reader, id);
  return record as MessageOf<Kind> | undefined;
}

/**
 * Takes a message and all that belongs to it out of the store; its bytes are left to the sweeper. Erasing a sent
 * copy does not refund what it cost and does not free its key; an attempt that has not started yet never will.
 */
export function eraseMessage(writer: Writer, message: MessageRecord, nowMs: number): void {
  const { id, trash } = message;
  if (trash !== null) removePending(writer, { kind: 'purge-trash', dueAt: trash.restorableUntil, id });
  if (message.kind === 'received') {
    if (message.parseDueAt !== null) removePending(writer, { kind: 'parse', dueAt: message.parseDueAt, id });
    if (message.recheck != null)
      removePending(writer, { kind: 'authenticate', dueAt: message.recheck.dueAt, id });
  } else if (message.relayDueAt !== null) {
    const kind = message.attempt === 'held' ? 'relay-held' : 'relay';
    removePending(writer, { kind, dueAt: message.relayDueAt, id });
  }
  if (message.kind === 'sent') leaveDeliveries(writer, message, nowMs);
  for (const blob of blobsOf(message)) releaseBlob(writer, blob, nowMs);
  // One without content has no words, or has dropped them.
  if (message.content !== null) dropWords(writer, message, nowMs);
  removeMessage(writer, message);
  const { inboxId, kind } = message;
  noteEvent(writer, { type: 'trash.purged', inboxId, messageId: id, kind }, nowMs);
}

/** Deliveries go on without the sent copy; those of a deleted inbox end with it, and nobody is told. */
function leaveDeliveries(writer: Writer, { id, inboxId }: MessageRecord, nowMs: number): void {
  const isOrphan = getInbox(writer, inboxId) === undefined;
  for (const delivery of isOrphan ? deliveriesOf(writer, id) : []) {
    if (!hasEnded(delivery)) saveDelivery(writer, delivery, abandoned(delivery, nowMs), nowMs);
  }
  forgetDeliveries(writer, id);
}

/** Erases a message if it is there and the one that is meant; false when there is none. */
export function eraseById(
  writer: Writer,
  kind: MessageKind,
  id: MessageId,
  nowMs: number,
  isMeant: (message: MessageRecord) => boolean = () => true,
): boolean {
  const message: MessageRecord | undefined = getMessageOf(writer, kind, id);
  if (message === undefined) return false;
  if (isMeant(message)) eraseMessage(writer, message, nowMs);
  return true;
}

/** Which message is meant. */
export type MessageInput = Caller & {
  /** Text from outside. */
  readonly messageId: string;
};

/** A message of one of the kinds: live, or in Trash and not over at an instant. */
export interface Wanted<Kind extends MessageKind> {
  readonly kinds: readonly Kind[];
  /** A message in Trash is `not_found`, except for restoring and deleting. */
  readonly trash: 'live' | { readonly restorableAt: number };
  /** The permission that is needed, checked after ownership. */
  readonly may?: keyof AccountPermissions;
}

/** The message that is meant, if the caller reaches it. Its inbox decides the owner: mail goes with its inbox. */
export function locate<Kind extends MessageKind>(
  reader: Reader,
  input: MessageInput,
  wanted: Wanted<Kind>,
): MessageOf<Kind> {
  const message = find(reader, input, input.messageId, wanted);
  if (message === null) throw notFound('admin' in input ? `message ${input.messageId}` : 'message');
  if (wanted.may !== undefined) checkPermitted(reader, input, wanted.may);
  return message;
}

/** The same without permission; null when it is missing. */
export function find<Kind extends MessageKind>(
  reader: Reader,
  caller: Caller,
  messageId: string,
  { kinds, trash }: Omit<Wanted<Kind>, 'may'>,
): MessageOf<Kind> | null {
  const id = toId<MessageId>(messageId);
  if (id === null) return null;
  for (const kind of kinds) {
    const message = getMessageOf(reader, kind, id);
    if (message === undefined || reachedInbox(reader, caller, message.inboxId) === null) continue;
    const isThere = trash === 'live' ? message.trash === null : !isOver(message, trash.restorableAt);
    if (isThere) return message;
  }
  return null;
}

/** Has its time in Trash ended? Then it is gone, even if the sweeper has not erased it yet. */
function isOver(message: MessageRecord, nowMs: number): boolean {
  return message.trash !== null && message.trash.restorableUntil <= nowMs;
}
