import { type AccountId, type InboxId, idToBytes } from '../../domain/ids.js';
import { u48 } from '../engine/keys.js';
import { asItIs, type Reader, type Table, type Writer } from '../engine/tables.js';
import { getInbox, inboxesTable } from './inboxes.js';

/*
 * What an account stores counts against its allowance: the bytes of its messages as they came, their content as
 * JSON, its drafts, its uploads and its feedback. Trash counts; what is deleted for good stops counting in the unit of
 * work that deletes it, before its bytes are freed. Bytes that several accounts, or
 * several things of one, share count for each.
 */

/** What a record counts for besides the bytes that it names: its entries in tables and indexes, about. */
export const RECORD_BYTES = 1024;

/** Account -> bytes that it stores; inbox -> bytes of the drafts among them, to be taken off with the inbox. */
export const storedBytesTable: Table<AccountId | InboxId, number> = {
  name: 'stored_bytes',
  encodeKey: idToBytes,
  encodeValue: u48,
  decodeValue: bytes => bytes.readUIntBE(0, 6),
  gather: asItIs,
};

/** Bytes that an account stores. */
export function storedBytes(reader: Reader, accountId: AccountId): number {
  return reader.get(storedBytesTable, accountId) ?? 0;
}

/** Bytes of the drafts in an inbox. */
export function draftBytes(reader: Reader, inboxId: InboxId): number {
  return reader.get(storedBytesTable, inboxId) ?? 0;
}

/** Counts `change` bytes more, or less, for an account. */
export function countStored(writer: Writer, accountId: AccountId, change: number): void {
  count(writer, accountId, change);
}

/** Counts bytes of drafts for an inbox and its account; what a deleted inbox held counts no more. */
export function countDraftBytes(writer: Writer, inboxId: InboxId, change: number): void {
  const accountId = ownerOf(writer, inboxId);
  if (change === 0 || accountId === null) return;
  count(writer, inboxId, change);
  count(writer, accountId, change);
}

/** Forgets the bytes of the drafts of an inbox that is deleted. */
export function forgetDraftBytes(writer: Writer, inboxId: InboxId): void {
  writer.remove(storedBytesTable, inboxId);
}

function count(writer: Writer, id: AccountId | InboxId, change: number): void {
  // Never below zero: the key could not hold it, and a store that is damaged must stay usable.
  writer.update(storedBytesTable, id, (before = 0) => Math.max(0, before + change));
}

/** Owners that were looked up: an inbox never changes hands, and every message asks. */
const owners = new Map<InboxId, AccountId>();
const MAX_OWNERS = 10_000;

/** The account of an inbox; null once it is deleted. */
export function ownerOf(reader: Reader, inboxId: InboxId): AccountId | null {
  const known = owners.get(inboxId);
  if (known !== undefined) return reader.has(inboxesTable, inboxId) ? known : null;
  const inbox = getInbox(reader, inboxId);
  if (inbox === undefined) return null;
  if (owners.size >= MAX_OWNERS) owners.clear();
  owners.set(inboxId, inbox.accountId);
  return inbox.accountId;
}
