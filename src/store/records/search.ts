import { type AccountId, type InboxId, idFromBytes, idToBytes, type MessageId } from '../../domain/ids.js';
import { WORDS_VERSION } from '../../domain/search-words.js';
import { joinKey, range, u32 } from '../engine/keys.js';
import {
  bytesKey,
  jsonValue,
  type LentBytes,
  type Reader,
  rawValue,
  type Table,
  type Writer,
} from '../engine/tables.js';
import { type Folder, folderKey, type MessageKind } from '../mailbox/folders.js';
import { addPending, removePending } from './pending.js';
import { ownerOf } from './storage.js';

/*
 * What the search index of each account still has to learn. The index itself lies outside of the store, can be deleted
 * at any moment and is made anew from the messages (src/search/README.md).
 *
 * A change of the words of a message is written in the commit that publishes, re-parses or erases it, as the state that
 * the index is to come to: `unindexed` has one entry for a message, and the last change counts. So whatever is told to
 * the index twice, or in another order, ends the same. The account has one entry of pending work while there is any.
 */

/** What the store knows of the index of an account. */
export interface SearchRecord {
  /**
   * Names what the index was last told; the index keeps the same number, and the one before. One that has other numbers
   * belongs to another state of the store. 0: it has been told nothing yet, and its file is made new.
   */
  readonly mark: number;
  /** `WORDS_VERSION` of the words in it. */
  readonly words: number;
  /** Numbers that were given to folders. */
  readonly folders: number;
  /** The due instant of its pending work; null when it has none. */
  readonly dueAt: number | null;
  readonly rebuild: Rebuild | null;
}

/** How far an index has been made from what is stored. Until it is complete nobody is answered from it. */
export interface Rebuild {
  readonly since: number;
  /** Why, for the admin. */
  readonly reason: string;
  /** Messages so far. */
  readonly done: number;
  readonly at: RebuildPosition;
}

export type RebuildPosition =
  /** What was told before is dropped first: the walk meets it. */
  | { readonly phase: 'clear' }
  /** Live messages, folder by folder. `seq` is the next one. */
  | { readonly phase: 'live'; readonly inboxId: InboxId; readonly kind: MessageKind; readonly seq: number }
  /** Messages in Trash, after the live ones; those that were restored meanwhile are in `search_restored`. */
  | { readonly phase: 'trash'; readonly inboxId: InboxId; readonly number: number }
  | { readonly phase: 'restored' };

export const searchAccountsTable: Table<AccountId, SearchRecord> = {
  name: 'search_accounts',
  encodeKey: idToBytes,
  ...jsonValue<SearchRecord>(1),
};

export interface SearchFolder {
  readonly accountId: AccountId;
  /** Dense within the account, from 0. */
  readonly number: number;
}

/** Inbox and kind -> whose folder it is, and its number in the index; from the first message with words on. */
export const searchFoldersTable: Table<Folder, SearchFolder> = {
  name: 'search_folders',
  encodeKey: folderKey,
  encodeValue: ({ accountId, number }) => joinKey(idToBytes(accountId), u32(number)),
  decodeValue: bytes => ({ accountId: idFromBytes<AccountId>(bytes), number: bytes.readUIntBE(16, 4) }),
};

const ADD = 1;
const REMOVE = 2;
const REMOVED = Buffer.of(REMOVE);

/** [account, number of the folder, seq] -> a byte for the change, and the words (`joinWords`) where some are added. */
export const unindexedTable: Table<Buffer, Buffer> = {
  name: 'search_unindexed',
  encodeKey: bytesKey,
  ...rawValue,
};

/** [account, number of the folder, seq] -> a message that was restored while the index is made from what is stored. */
export const restoredTable: Table<Buffer, { readonly id: MessageId; readonly kind: MessageKind }> = {
  name: 'search_restored',
  encodeKey: bytesKey,
  ...jsonValue<{ readonly id: MessageId; readonly kind: MessageKind }>(1),
};

/** Above 32 bits of sequence, so that every row number is exact in a double. */
const MAX_FOLDERS = 2 ** 21;
const SEQ_SPAN = 2 ** 32;

/** The row of a message in the index of its account. */
export function rowOf(folderNumber: number, seq: number): number {
  return folderNumber * SEQ_SPAN + seq;
}

/** Number of the folder and seq of a row. */
export function placeOfRow(row: number): { readonly folderNumber: number; readonly seq: number } {
  return { folderNumber: Math.floor(row / SEQ_SPAN), seq: row % SEQ_SPAN };
}

const PLACE_BYTES = 8;

function rowKey(accountId: AccountId, row: number): Buffer {
  const { folderNumber, seq } = placeOfRow(row);
  return joinKey(idToBytes(accountId), u32(folderNumber), u32(seq));
}

function rowOfKey(key: Buffer): number {
  return rowOf(key.readUInt32BE(16), key.readUInt32BE(16 + PLACE_BYTES / 2));
}

const NEW_RECORD: SearchRecord = { mark: 0, words: WORDS_VERSION, folders: 0, dueAt: null, rebuild: null };

export function getSearch(reader: Reader, accountId: AccountId): SearchRecord | undefined {
  return reader.get(searchAccountsTable, accountId);
}

/** `rebuilding`: nobody can be told yet what the index holds. */
export function searchStateOf(reader: Reader, accountId: AccountId): 'ready' | 'rebuilding' {
  const record = getSearch(reader, accountId);
  return record === undefined || record.rebuild === null ? 'ready' : 'rebuilding';
}

/** The number of a folder in the index of its account; null while no message of it has had words. */
export function folderNumberOf(reader: Reader, folder: Folder): number | null {
  return reader.get(searchFoldersTable, folder)?.number ?? null;
}

function takeFolder(writer: Writer, folder: Folder, accountId: AccountId): SearchFolder | null {
  const known = writer.get(searchFoldersTable, folder);
  if (known !== undefined) return known;
  const record = getSearch(writer, accountId) ?? NEW_RECORD;
  // Twenty thousand inboxes a day for a century.
  if (record.folders >= MAX_FOLDERS) return null;
  const taken: SearchFolder = { accountId, number: record.folders };
  writer.put(searchFoldersTable, folder, taken);
  writer.put(searchAccountsTable, accountId, { ...record, folders: record.folders + 1 });
  return taken;
}

/** A message as the index knows it. */
export interface IndexedPlace extends Folder {
  readonly seq: number;
}

/** The words of a message that is published: `joined` is what `joinWords` makes. Replaces those of an earlier state. */
export function noteWords(writer: Writer, message: IndexedPlace, joined: string, nowMs: number): void {
  const accountId = ownerOf(writer, message.inboxId);
  const folder = accountId === null ? null : takeFolder(writer, message, accountId);
  if (folder === null) return;
  const value = Buffer.allocUnsafe(1 + Buffer.byteLength(joined));
  value[0] = ADD;
  value.write(joined, 1);
  writer.put(unindexedTable, rowKey(folder.accountId, rowOf(folder.number, message.seq)), value);
  planWork(writer, folder.accountId, nowMs);
}

/** A message that may be in the index is erased, or parsed again: its words have to go. */
export function dropWords(writer: Writer, message: IndexedPlace, nowMs: number): void {
  const folder = writer.get(searchFoldersTable, message);
  if (folder === undefined) return;
  const key = rowKey(folder.accountId, rowOf(folder.number, message.seq));
  writer.put(unindexedTable, key, REMOVED);
  writer.remove(restoredTable, key);
  planWork(writer, folder.accountId, nowMs);
}

/** A message came back from Trash. The walk of a rebuild may have missed it in both places. */
export function noteRestored(
  writer: Writer,
  message: IndexedPlace & { readonly id: MessageId },
  accountId: AccountId | null = ownerOf(writer, message.inboxId),
): void {
  if (accountId === null || searchStateOf(writer, accountId) === 'ready') return;
  const folder = takeFolder(writer, message, accountId);
  if (folder === null) return;
  const { id, kind } = message;
  writer.put(restoredTable, rowKey(accountId, rowOf(folder.number, message.seq)), { id, kind });
}

/** The inbox is gone with all it held; what the index has of it is in `search_unindexed`. */
export function forgetFolder(writer: Writer, folder: Folder): void {
  writer.remove(searchFoldersTable, folder);
}

/** Gives the folder its number, and says whose it is; null for that of a deleted inbox. */
export function numberFolder(writer: Writer, folder: Folder): SearchFolder | null {
  const accountId = ownerOf(writer, folder.inboxId);
  return accountId === null ? null : takeFolder(writer, folder, accountId);
}

function planWork(writer: Writer, accountId: AccountId, nowMs: number): void {
  const record = getSearch(writer, accountId) ?? NEW_RECORD;
  if (record.dueAt === null) putSearch(writer, accountId, record, { ...record, dueAt: nowMs });
}

/** Writes the record of an account, and moves its pending work. */
export function putSearch(
  writer: Writer,
  accountId: AccountId,
  before: SearchRecord | undefined,
  after: SearchRecord,
): void {
  const dueBefore = before?.dueAt ?? null;
  if (dueBefore !== after.dueAt) {
    if (dueBefore !== null) removePending(writer, { kind: 'index', dueAt: dueBefore, id: accountId });
    if (after.dueAt !== null) addPending(writer, after.dueAt, { kind: 'index', id: accountId });
  }
  writer.put(searchAccountsTable, accountId, after);
}

/**
 * Has the index of an account made anew from what is stored. Where that is under way, it begins again.
 * @param reason for the admin
 */
export function beginRebuild(writer: Writer, accountId: AccountId, reason: string, nowMs: number): void {
  const record = getSearch(writer, accountId);
  putSearch(writer, accountId, record, {
    mark: 0,
    words: WORDS_VERSION,
    folders: record?.folders ?? 0,
    dueAt: record?.dueAt ?? nowMs,
    rebuild: { since: nowMs, reason, done: 0, at: { phase: 'clear' } },
  });
}

/** A message whose last change the index may not know yet. */
export interface Unindexed {
  readonly seq: number;
  /**
   * `add`: it has the words that `indexedWordsOf` tells, whatever the index says of it. `remove`: it has none, though
   * the index may still find it.
   */
  readonly change: 'add' | 'remove';
  /** Bytes of its words. */
  readonly bytes: number;
}

interface Change {
  readonly isAdded: boolean;
  readonly bytes: number;
}

/** The same table, without copying the words. */
const changesTable: Table<Buffer, Change> = {
  name: unindexedTable.name,
  encodeKey: bytesKey,
  encodeValue: () => {
    throw new Error('changes are only read');
  },
  decodeValue: (bytes: LentBytes) => ({ isAdded: bytes[0] === ADD, bytes: bytes.length - 1 }),
};

/** The messages of a folder whose last change the index may not know yet, newest first. */
export function listUnindexed(reader: Reader, folder: Folder, limit: number): Unindexed[] {
  const found = reader.get(searchFoldersTable, folder);
  if (found === undefined) return [];
  const prefix = joinKey(idToBytes(found.accountId), u32(found.number));
  return reader
    .scan(changesTable, { ...range(prefix), reverse: true, limit })
    .map(({ key, value: { isAdded, bytes } }) => ({
      seq: key.readUInt32BE(20),
      change: isAdded ? 'add' : 'remove',
      bytes,
    }));
}

/** So much of a folder is looked through directly: beyond, a search has to wait for the index. */
export const MAX_TAIL = { messages: 500, bytes: 2 * 2 ** 20 } as const;

/** How much of a folder the index may not know yet; of more than `maxMessages`, one more and their bytes are told. */
export function tailOf(
  reader: Reader,
  folder: Folder,
  maxMessages: number = MAX_TAIL.messages,
): { readonly messages: number; readonly bytes: number } {
  const tail = listUnindexed(reader, folder, maxMessages + 1);
  return { messages: tail.length, bytes: tail.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/**
 * The joined words (`joinWords`) of a message that `listUnindexed` names with `add`; null for others. To be asked in the
 * same read: the index may take them in at any time, and then they are here no more.
 */
export function indexedWordsOf(reader: Reader, folder: Folder, seq: number): string | null {
  const found = reader.get(searchFoldersTable, folder);
  if (found === undefined) return null;
  const value = reader.get(unindexedTable, rowKey(found.accountId, rowOf(found.number, seq)));
  return value?.[0] === ADD ? value.toString('utf8', 1) : null;
}

/** What the index of an account is to be told of one message. */
export interface IndexChange {
  readonly row: number;
  /** As `search_unindexed` holds it. */
  readonly value: Buffer;
}

/** Joined words in UTF-8; null where the words of a message have to go. */
export function wordsOfChange({ value }: IndexChange): Buffer | null {
  return value[0] === ADD ? value.subarray(1) : null;
}

/** What the index of an account has to be told, in the order of rows. */
export function listChanges(
  reader: Reader,
  accountId: AccountId,
  afterRow: number | null,
  limit: number,
): IndexChange[] {
  const after = afterRow === null ? null : rowKey(accountId, afterRow);
  return reader
    .scan(unindexedTable, { ...range(idToBytes(accountId), after), limit })
    .map(({ key, value }) => ({ row: rowOfKey(key), value }));
}

/** Forgets a change that the index has been told of, unless there has been another one meanwhile. */
export function forgetChange(writer: Writer, accountId: AccountId, { row, value }: IndexChange): void {
  const key = rowKey(accountId, row);
  if (writer.get(unindexedTable, key)?.equals(value) === true) writer.remove(unindexedTable, key);
}

/** Forgets up to `limit` changes, told or not. @returns how many there were */
export function clearChanges(writer: Writer, accountId: AccountId, limit: number): number {
  const all = range(idToBytes(accountId));
  const changes = writer.scanKeys(unindexedTable, { ...all, limit });
  for (const key of changes) writer.remove(unindexedTable, key);
  const restored = writer.scanKeys(restoredTable, { ...all, limit: limit - changes.length });
  for (const key of restored) writer.remove(restoredTable, key);
  return changes.length + restored.length;
}

export interface RestoredMessage {
  readonly row: number;
  readonly id: MessageId;
  readonly kind: MessageKind;
}

/** Messages of an account that came back from Trash since its index is made anew. */
export function listRestored(reader: Reader, accountId: AccountId, limit: number): RestoredMessage[] {
  return reader
    .scan(restoredTable, { ...range(idToBytes(accountId)), limit })
    .map(({ key, value }) => ({ row: rowOfKey(key), ...value }));
}

export function forgetRestored(writer: Writer, accountId: AccountId, row: number): void {
  writer.remove(restoredTable, rowKey(accountId, row));
}
