import { isEmailAddress } from '../domain/email-address.js';
import { fail, ok, type Result } from '../domain/errors.js';
import { type AccountId, newId } from '../domain/ids.js';
import { toInstant } from '../domain/instants.js';
import { type AccountRecord, findAccountByEmail, putAccount } from '../store/accounts.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import type { Clock } from './ports.js';

export interface AccountView {
  readonly account_id: string;
  readonly email: string;
  readonly created_at: string;
}

export function viewAccount(account: AccountRecord): AccountView {
  return { account_id: account.id, email: account.email, created_at: toInstant(account.createdAt) };
}

/** Makes an account for a human, by email address. Refused when that email has one. */
export async function createAccount(
  deps: { store: Store; clock: Clock },
  email: string,
): Promise<Result<AccountView>> {
  if (!isEmailAddress(email)) {
    return fail('invalid_request', `${JSON.stringify(email)} is not an email address like name@example.org.`);
  }
  return deps.store.write(writer => {
    if (findAccountByEmail(writer, email) !== undefined) {
      return fail('invalid_request', `There is an account for ${email} already.`);
    }
    return ok(viewAccount(addAccount(writer, { email, nowMs: deps.clock(), isOperator: false })));
  });
}

export function addAccount(
  writer: Writer,
  input: { email: string; nowMs: number; isOperator: boolean },
): AccountRecord {
  const account: AccountRecord = {
    id: newId<AccountId>(input.nowMs),
    email: input.email,
    createdAt: input.nowMs,
    permissions: { send: true, delete: true, restore: true },
    inboxLimit: null,
    sendLimit: null,
    isOperator: input.isOperator,
  };
  putAccount(writer, account);
  return account;
}
