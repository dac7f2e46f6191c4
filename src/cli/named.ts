import { isUuid } from '../domain/ids.js';
import type { AccountRecord } from '../store/records/accounts.js';
import type { InboxRecord } from '../store/records/inboxes.js';
import { findAccount } from '../usecases/accounts/accounts.js';
import { findInbox } from '../usecases/shared/callers.js';
import type { Box } from './context.js';
import { type Failed, failed } from './outcome.js';

/** How an admin names things: EMAIL is an email address or account id, INBOX an address or id. */

type Named<Value> = { readonly ok: true; readonly value: Value } | Failed;

/** Longest email address there is (RFC 5321 section 4.5.3.1): what is longer is not looked up. */
const MAX_EMAIL_LENGTH = 320;

export function accountNamed({ store }: Box, emailOrId: string): Named<AccountRecord> {
  if (isUuid(emailOrId) || (emailOrId !== '' && emailOrId.length <= MAX_EMAIL_LENGTH)) {
    const found = store.read(reader => findAccount(reader, emailOrId));
    if (found.ok) return found;
  }
  return failed(
    'not_found',
    `There is no account ${asNamed(emailOrId)}. "postern account list" shows them all.`,
  );
}

export function inboxNamed({ store }: Box, addressOrId: string): Named<InboxRecord> {
  const found = store.read(reader => findInbox(reader, addressOrId));
  return found.ok ? found : noSuchInbox(addressOrId);
}

export function noSuchInbox(addressOrId: string): Failed {
  return failed(
    'not_found',
    `There is no inbox ${asNamed(addressOrId)}. "postern inbox list" shows them all.`,
  );
}

/** The empty name is a variable that a script has not set: it has to be seen. */
function asNamed(text: string): string {
  return text === '' ? '""' : text;
}
