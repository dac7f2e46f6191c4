import type { InboxId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import { joinKey, prefixEnd, u48 } from './key-codec.js';
import type { MessageKind } from './mailboxes.js';
import type { Reader, Writer } from './reader-writer.js';
import { bytesKey, jsonValue, type Table } from './table.js';

/** What a message in Trash knows of it. */
export interface TrashPlace {
  /** Number in the order of trashing within the inbox, from 1: the list's order and its cursors. */
  readonly number: number;
  readonly deletedAt: number;
  /** From this instant on it cannot be restored, swept or not. */
  readonly restorableUntil: number;
}

export interface TrashedMessage {
  readonly kind: MessageKind;
  readonly id: string;
  readonly restorableUntil: number;
}

/** [inbox, number] -> the message that was put there. */
export const trashTable: Table<Buffer, TrashedMessage> = {
  name: 'trash',
  encodeKey: bytesKey,
  ...jsonValue<TrashedMessage>(1),
};

/** Inbox -> the last number given. */
export const trashNumbersTable: Table<InboxId, number> = {
  name: 'trash_numbers',
  encodeKey: idToBytes,
  ...jsonValue<number>(1),
};

function trashKey(inboxId: InboxId, number: number): Buffer {
  return joinKey(idToBytes(inboxId), u48(number));
}

export function takeTrashNumber(writer: Writer, inboxId: InboxId): number {
  const number = (writer.get(trashNumbersTable, inboxId) ?? 0) + 1;
  writer.put(trashNumbersTable, inboxId, number);
  return number;
}

export function putTrash(writer: Writer, inboxId: InboxId, number: number, message: TrashedMessage): void {
  writer.put(trashTable, trashKey(inboxId, number), message);
}

export function removeTrash(writer: Writer, inboxId: InboxId, number: number): void {
  writer.remove(trashTable, trashKey(inboxId, number));
}

/** What an inbox's Trash holds, last trashed first, numbers below `before`. */
export function scanTrash(
  reader: Reader,
  inboxId: InboxId,
  before: number | null,
  limit: number,
): { readonly number: number; readonly message: TrashedMessage }[] {
  const from = idToBytes(inboxId);
  const to = before === null ? (prefixEnd(from) ?? Buffer.alloc(23, 0xff)) : trashKey(inboxId, before);
  return reader
    .scan(trashTable, { from, to, reverse: true, limit })
    .map(({ key, value }) => ({ number: key.readUIntBE(16, 6), message: value }));
}
