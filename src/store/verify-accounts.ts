import { type AccountId, type InboxId, idFromBytes, type KeyId } from '../domain/ids.js';
import { accountEmailsTable, accountsTable, getAccount } from './accounts.js';
import { accountKeysTable, apiKeyHashesTable, apiKeysTable } from './api-keys.js';
import { feedbackTable } from './feedback.js';
import {
  accountInboxesTable,
  addressesTable,
  addressOf,
  getInbox,
  inboxesTable,
  policiesTable,
} from './inboxes.js';
import { getMeta } from './meta.js';
import type { Reader } from './reader-writer.js';
import { signupAnswersTable } from './signup-answers.js';
import type { Ledger } from './verify-ledger.js';
import { walkTable } from './walk-table.js';

const entry = {
  email: (email: string, id: string): string => `email ${email} of account ${id}`,
  keyOf: (account: string, id: string): string => `key ${id} of account ${account}`,
  hash: (id: string, hash: Buffer): string =>
    `credential ${hash.toString('hex').slice(0, 12)}... of key ${id}`,
  address: (address: string, id: string): string => `address ${address} of inbox ${id}`,
  inboxOf: (account: string, id: string): string => `inbox ${id} of account ${account}`,
  account: (id: string): string => `account ${id}`,
  identity: 'identity of the store',
};

/** Accounts, keys, inboxes and addresses, each with the look-ups that lead to it. */
export function verifyAccounts(reader: Reader, ledger: Ledger): { accounts: number; inboxes: number } {
  ledger.expect(entry.identity);
  if (getMeta(reader, 'identity') !== undefined) ledger.find(entry.identity);
  const accounts = expectAccounts(reader, ledger);
  expectKeys(reader, ledger);
  const inboxes = expectInboxes(reader, ledger);
  expectOwners(reader, ledger);
  findLookUps(reader, ledger);
  return { accounts, inboxes };
}

function expectAccounts(reader: Reader, ledger: Ledger): number {
  let count = 0;
  for (const { value } of walkTable(reader, accountsTable)) {
    ledger.expect(entry.email(value.email.toLowerCase(), value.id));
    count += 1;
  }
  return count;
}

function expectKeys(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, apiKeysTable)) {
    ledger.expect(entry.hash(value.id, key));
    ledger.expect(entry.keyOf(value.accountId, value.id));
    expectAccount(reader, ledger, value.accountId);
  }
}

function expectInboxes(reader: Reader, ledger: Ledger): number {
  let count = 0;
  for (const { value } of walkTable(reader, inboxesTable)) {
    ledger.expect(entry.address(addressOf(value), value.id));
    ledger.expect(entry.inboxOf(value.accountId, value.id));
    expectAccount(reader, ledger, value.accountId);
    count += 1;
  }
  return count;
}

/** What else belongs to an account. */
function expectOwners(reader: Reader, ledger: Ledger): void {
  for (const { value } of walkTable(reader, signupAnswersTable))
    expectAccount(reader, ledger, value.accountId);
  for (const { value } of walkTable(reader, feedbackTable)) expectAccount(reader, ledger, value.accountId);
}

function expectAccount(reader: Reader, ledger: Ledger, id: AccountId): void {
  if (getAccount(reader, id) === undefined) ledger.expect(entry.account(id));
}

function findLookUps(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, accountEmailsTable)) {
    ledger.find(entry.email(key.toString('utf8'), value));
  }
  for (const { key, value } of walkTable(reader, apiKeyHashesTable)) {
    ledger.find(entry.hash(idFromBytes<KeyId>(key), value));
  }
  for (const { key } of walkTable(reader, accountKeysTable)) {
    ledger.find(entry.keyOf(idFromBytes<AccountId>(key), idFromBytes<KeyId>(key, 16)));
  }
  for (const { key, value } of walkTable(reader, addressesTable)) {
    if (value.status === 'live') ledger.find(entry.address(key.toString('utf8'), value.inboxId));
  }
  for (const { key } of walkTable(reader, accountInboxesTable)) {
    ledger.find(entry.inboxOf(idFromBytes<AccountId>(key), idFromBytes<InboxId>(key, 16)));
  }
  for (const { key } of walkTable(reader, policiesTable)) {
    const id = idFromBytes<InboxId>(key);
    if (getInbox(reader, id) === undefined) ledger.find(`policy of inbox ${id}, which is not there`);
  }
}
