import type { AccountId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import { text } from './key-codec.js';
import type { Reader, Writer } from './reader-writer.js';
import { jsonValue, type Table } from './table.js';

export interface AccountPermissions {
  readonly send: boolean;
  readonly delete: boolean;
  readonly restore: boolean;
}

export interface AccountRecord {
  readonly id: AccountId;
  /** As the admin wrote it; unique without regard to letter case. */
  readonly email: string;
  readonly createdAt: number;
  readonly permissions: AccountPermissions;
  /** Inbox cap of this account; null follows the configuration. */
  readonly inboxLimit: number | null;
  /** Recipient-deliveries in 24 hours; null follows the configuration. */
  readonly sendLimit: number | null;
  /** True for the one account that stands for the operator and owns the postmaster inbox. */
  readonly isOperator: boolean;
}

export const accountsTable: Table<AccountId, AccountRecord> = {
  name: 'accounts',
  encodeKey: idToBytes,
  ...jsonValue<AccountRecord>(1),
  decidesAccess: true,
};

/** Lower-case email address -> account. */
export const accountEmailsTable: Table<string, AccountId> = {
  name: 'account_emails',
  encodeKey: email => text(email.toLowerCase()),
  ...jsonValue<AccountId>(1),
};

export function getAccount(reader: Reader, id: AccountId): AccountRecord | undefined {
  return reader.get(accountsTable, id);
}

export function findAccountByEmail(reader: Reader, email: string): AccountRecord | undefined {
  const id = reader.get(accountEmailsTable, email);
  return id === undefined ? undefined : reader.get(accountsTable, id);
}

/** Writes a new account or a new version of one; the email of an account never changes. */
export function putAccount(writer: Writer, account: AccountRecord): void {
  writer.put(accountsTable, account.id, account);
  writer.put(accountEmailsTable, account.email, account.id);
}

/** Accounts by creation, at most `limit` after `after`. */
export function scanAccounts(reader: Reader, after: AccountId | null, limit: number): AccountRecord[] {
  const from = after === null ? Buffer.alloc(0) : Buffer.concat([idToBytes(after), Buffer.of(0)]);
  return reader.scan(accountsTable, { from, to: Buffer.alloc(17, 0xff), limit }).map(entry => entry.value);
}
