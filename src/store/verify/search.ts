import { type AccountId, type InboxId, idFromBytes } from '../../domain/ids.js';
import { type Reader, type Table, walkTable } from '../engine/tables.js';
import { folderOfKey } from '../mailbox/folders.js';
import { getAccount } from '../records/accounts.js';
import { getInbox } from '../records/inboxes.js';
import {
  getSearch,
  restoredTable,
  searchAccountsTable,
  searchFoldersTable,
  unindexedTable,
} from '../records/search.js';
import { pendingEntry } from './accounts-and-pending.js';
import type { Ledger } from './ledger.js';

/** What the search indexes have to learn, and that somebody is going to tell them. */
export function verifySearch(reader: Reader, ledger: Ledger, isLeaving: (id: InboxId) => boolean): void {
  for (const { key, value } of walkTable(reader, searchAccountsTable)) {
    const id = idFromBytes<AccountId>(key);
    if (getAccount(reader, id) === undefined)
      ledger.find(`search index of account ${id}, which is not there`);
    if (value.dueAt !== null) ledger.expect(pendingEntry.index(id, value.dueAt));
    else if (value.rebuild !== null) ledger.find(`search index of account ${id}, which nobody makes anew`);
  }
  for (const { key, value } of walkTable(reader, searchFoldersTable)) {
    const { inboxId, kind } = folderOfKey(key);
    if (getInbox(reader, inboxId) === undefined && !isLeaving(inboxId)) {
      ledger.find(`number in the search index of ${kind} mail of inbox ${inboxId}, which is not there`);
    }
    if (value.number >= (getSearch(reader, value.accountId)?.folders ?? 0)) {
      ledger.find(`number in the search index of ${kind} mail of inbox ${inboxId}, which was not given`);
    }
  }
  findUntold(reader, ledger, unindexedTable);
  findUntold(reader, ledger, restoredTable);
}

function findUntold<Value>(reader: Reader, ledger: Ledger, table: Table<Buffer, Value>): void {
  for (const { key } of walkTable(reader, table)) {
    const id = idFromBytes<AccountId>(key);
    const dueAt = getSearch(reader, id)?.dueAt ?? null;
    if (dueAt === null) ledger.find(`change that nobody tells the search index of account ${id}`);
  }
}
