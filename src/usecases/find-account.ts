import { isEmailAddress } from '../domain/email-address.js';
import { notFound, ok, type Result } from '../domain/errors.js';
import { type AccountId, toId } from '../domain/ids.js';
import { type AccountRecord, findAccountByEmail, getAccount, scanAccounts } from '../store/accounts.js';
import type { Reader } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { type AccountView, viewAccount } from './create-account.js';

/** The account that an admin names by email address or id. */
export function findAccount(reader: Reader, emailOrId: string): Result<AccountRecord> {
  const id = toId<AccountId>(emailOrId);
  // What cannot be an email is no account's, and may be longer than a key of the store.
  const byEmail = isEmailAddress(emailOrId) ? findAccountByEmail(reader, emailOrId) : undefined;
  const account = id === null ? byEmail : getAccount(reader, id);
  return account === undefined ? notFound(`account ${emailOrId}`) : ok(account);
}

const PAGE = 1000;

/** Every account by creation; an appliance has few. */
export function listAccounts(deps: { store: Store }): AccountView[] {
  const accounts: AccountRecord[] = [];
  let after: AccountId | null = null;
  for (;;) {
    const from: AccountId | null = after;
    const page: AccountRecord[] = deps.store.read(reader => scanAccounts(reader, from, PAGE));
    accounts.push(...page);
    after = page.at(-1)?.id ?? null;
    if (page.length < PAGE) return accounts.map(viewAccount);
  }
}
