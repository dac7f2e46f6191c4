import { type AccountId, type InboxId, idFromBytes, type KeyId, type ThreadId } from '../../domain/ids.js';
import { getMeta } from '../engine/meta.js';
import { type Reader, walkTable } from '../engine/tables.js';
import {
  accountEmailsTable,
  accountKeysTable,
  accountsTable,
  apiKeyHashesTable,
  apiKeysTable,
  getAccount,
} from '../records/accounts.js';
import {
  approvalLinksTable,
  claimPhrasesTable,
  feedbackPaceTable,
  feedbackTable,
  signupAnswersTable,
} from '../records/approvals.js';
import {
  accountInboxesTable,
  addressesTable,
  addressOf,
  getInbox,
  inboxesTable,
  policiesTable,
} from '../records/inboxes.js';
import { idempotencyTable, type PendingWork, pendingTable } from '../records/pending.js';
import { accountSuppressionsTable, suppressionCountsTable } from '../records/suppressions.js';
import { getThread } from '../threads/threads.js';
import type { Ledger } from './ledger.js';
import { expectRemains } from './sets-and-blobs.js';

const entry = {
  email: (email: string, id: string): string => `email ${email} of account ${id}`,
  keyOf: (account: string, id: string): string => `key ${id} of account ${account}`,
  hash: (id: string, hash: Buffer): string =>
    `credential ${hash.toString('hex').slice(0, 12)}... of key ${id}`,
  address: (address: string, id: string): string => `address ${address} of inbox ${id}`,
  inboxOf: (account: string, id: string): string => `inbox ${id} of account ${account}`,
  account: (id: string): string => `account ${id}`,
  suppression: (account: string): string => `address that is suppressed for account ${account}`,
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
  for (const { value } of walkTable(reader, signupAnswersTable)) {
    expectAccount(reader, ledger, value.accountId);
  }
  for (const { value } of walkTable(reader, feedbackTable)) expectAccount(reader, ledger, value.accountId);
  for (const { value } of walkTable(reader, accountSuppressionsTable)) {
    expectAccount(reader, ledger, value.accountId);
    ledger.expect(entry.suppression(value.accountId));
  }
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
  for (const { key, value } of walkTable(reader, suppressionCountsTable)) {
    ledger.find(entry.suppression(idFromBytes<AccountId>(key)), value);
  }
}

/** How entries of the pending index are called. */
export const pendingEntry = {
  parse: (id: string, dueAt: number): string => `pending parsing of message ${id}, due ${dueAt}`,
  authenticate: (id: string, dueAt: number): string =>
    `pending look at who wrote message ${id}, due ${dueAt}`,
  purgeTrash: (id: string, kind: string, dueAt: number): string =>
    `pending erasure from Trash of ${kind} message ${id}, due ${dueAt}`,
  relay: (id: string, dueAt: number): string => `pending relaying of message ${id}, due ${dueAt}`,
  deliver: (id: string, dueAt: number): string => `pending delivery ${id}, due ${dueAt}`,
  relayHeld: (id: string, dueAt: number): string => `held sending of message ${id}, due ${dueAt}`,
  expireCharges: (id: string, dueAt: number): string =>
    `pending expiry of charges of account ${id}, due ${dueAt}`,
  expireKey: (id: string, dueAt: number): string => `pending expiry of the key that made ${id}, due ${dueAt}`,
  expireLink: (id: string, hash: string, dueAt: number): string =>
    `pending expiry of approval link ${id} (${hash.slice(0, 12)}...), due ${dueAt}`,
  expirePhrase: (id: string, hash: string, dueAt: number): string =>
    `pending expiry of claim phrase ${id} (${hash.slice(0, 12)}...), due ${dueAt}`,
  index: (id: string, dueAt: number): string => `pending indexing for account ${id}, due ${dueAt}`,
  expireUpload: (id: string, account: string, dueAt: number): string =>
    `pending expiry of upload ${id} of account ${account}, due ${dueAt}`,
  expireEvents: (id: string, dueAt: number): string =>
    `pending expiry of events of account ${id}, due ${dueAt}`,
  lapseSuppression: (id: string, account: string, address: string, dueAt: number): string =>
    `pending lapse of suppression ${id} of ${address} for account ${account}, due ${dueAt}`,
};

/** What is on its way out, by the pending index. */
export interface PendingFacts {
  readonly count: number;
  /** Inboxes that were deleted and whose mail is being erased. */
  readonly leaving: ReadonlySet<InboxId>;
  /** Ids of conversations that have ended and that the sweeper is to free, with their inboxes. */
  readonly ended: ReadonlyMap<ThreadId, InboxId>;
}

/** Walks the pending index; expects the records that its entries are about. */
export function findPending(reader: Reader, ledger: Ledger): PendingFacts {
  let count = 0;
  const leaving = new Set<InboxId>();
  const ended = new Map<ThreadId, InboxId>();
  for (const { key, value } of walkTable(reader, pendingTable)) {
    // By these a feed forgets in a month: nothing waits for them.
    if (value.kind !== 'expire-events') count += 1;
    if (value.kind === 'purge-inbox') leaving.add(value.id);
    if (value.kind === 'purge-thread') ended.set(value.id, value.inboxId);
    findWork(reader, ledger, value, key.readUIntBE(1, 6));
  }
  return { count, leaving, ended };
}

function findWork(reader: Reader, ledger: Ledger, work: PendingWork, dueAt: number): void {
  switch (work.kind) {
    case 'authenticate':
      ledger.find(pendingEntry.authenticate(work.id, dueAt));
      break;
    case 'parse':
      ledger.find(pendingEntry.parse(work.id, dueAt));
      break;
    case 'purge-trash':
      ledger.find(pendingEntry.purgeTrash(work.id, work.message, dueAt));
      break;
    case 'purge-blob':
      expectRemains(reader, ledger, work.id);
      break;
    case 'purge-inbox':
      if (getInbox(reader, work.id) !== undefined) {
        ledger.find(`pending erasure of inbox ${work.id}, which is in use`);
      }
      break;
    case 'purge-thread':
      if (getThread(reader, work.id) !== undefined) {
        ledger.find(`pending end of thread ${work.id}, which has members`);
      }
      break;
    case 'relay':
      ledger.find(pendingEntry.relay(work.id, dueAt));
      break;
    case 'relay-held':
      ledger.find(pendingEntry.relayHeld(work.id, dueAt));
      break;
    case 'deliver':
      ledger.find(pendingEntry.deliver(work.id, dueAt));
      break;
    case 'expire-charges':
      ledger.find(pendingEntry.expireCharges(work.id, dueAt));
      break;
    case 'expire-key':
      // A key that was used again after its time has a later entry; this one will find nothing to do.
      if (reader.get(idempotencyTable, work.key)?.expiresAt === dueAt) {
        ledger.find(pendingEntry.expireKey(work.id, dueAt));
      }
      break;
    case 'expire-link':
      ledger.find(pendingEntry.expireLink(work.id, work.hash, dueAt));
      break;
    case 'expire-phrase':
      ledger.find(pendingEntry.expirePhrase(work.id, work.hash, dueAt));
      break;
    case 'feedback-digest':
      if (reader.get(feedbackPaceTable, work.id) === undefined) {
        ledger.find(`pending digest of the feedback of account ${work.id}, which has given none`);
      }
      break;
    case 'index':
      ledger.find(pendingEntry.index(work.id, dueAt));
      break;
    case 'expire-upload':
      ledger.find(pendingEntry.expireUpload(work.id, work.accountId, dueAt));
      break;
    case 'webhook-mail':
      // It tells of a webhook that may be gone again.
      expectAccount(reader, ledger, work.accountId);
      break;
    case 'expire-events':
      // The feed knows of that of its newest events only.
      if (work.before === null) ledger.find(pendingEntry.expireEvents(work.id, dueAt));
      break;
    case 'lapse-suppression':
      ledger.find(pendingEntry.lapseSuppression(work.id, work.accountId, work.address, dueAt));
  }
}

/** Expects that every idempotency key is forgotten when its time has come. */
export function expectKeyExpiry(reader: Reader, ledger: Ledger): void {
  for (const { value } of walkTable(reader, idempotencyTable)) {
    ledger.expect(pendingEntry.expireKey(value.resultId, value.expiresAt));
  }
}

/** Expects that every suppression of an account lapses when its time has come. */
export function expectSuppressionLapse(reader: Reader, ledger: Ledger): void {
  for (const { value } of walkTable(reader, accountSuppressionsTable)) {
    const { id, accountId, address, until } = value;
    ledger.expect(pendingEntry.lapseSuppression(id, accountId, address, until));
  }
}

/** Expects that every approval link and claim phrase is forgotten when its time has come. */
export function expectApprovalExpiry(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, approvalLinksTable)) {
    ledger.expect(pendingEntry.expireLink(value.id, key.toString('hex'), value.expiresAt));
  }
  for (const { key, value } of walkTable(reader, claimPhrasesTable)) {
    ledger.expect(pendingEntry.expirePhrase(value.id, key.toString('hex'), value.expiresAt));
  }
}
