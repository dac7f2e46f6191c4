import { MAX_SOUGHT_ADDRESS_LENGTH } from '../contract/limits.js';
import { resultOf } from '../domain/errors.js';
import { isUuid } from '../domain/ids.js';
import type { AccountRecord } from '../store/records/accounts.js';
import type { InboxRecord } from '../store/records/inboxes.js';
import { findAccount } from '../usecases/accounts/accounts.js';
import { ADMIN, locateInbox } from '../usecases/shared/callers.js';
import type { Box } from './context.js';
import { type CommandRefusal, failed } from './outcome.js';

/** How an admin names things: EMAIL is an email address or account id, INBOX an address or id. */

export function accountNamed({ store }: Box, emailOrId: string): AccountRecord {
  const isName = isUuid(emailOrId) || (emailOrId !== '' && emailOrId.length <= MAX_SOUGHT_ADDRESS_LENGTH);
  const found = isName ? resultOf(() => store.read(reader => findAccount(reader, emailOrId))) : null;
  if (found?.ok === true) return found.value;
  throw failed(
    'not_found',
    `There is no account ${asNamed(emailOrId)}. "postern account list" shows them all.`,
  );
}

export function inboxNamed({ store }: Box, addressOrId: string): InboxRecord {
  const found = resultOf(() => store.read(reader => locateInbox(reader, ADMIN, addressOrId)));
  if (!found.ok) throw noSuchInbox(addressOrId);
  return found.value;
}

export function noSuchInbox(addressOrId: string): CommandRefusal {
  return failed(
    'not_found',
    `There is no inbox ${asNamed(addressOrId)}. "postern inbox list" shows them all.`,
  );
}

/** The empty name is a variable that a script has not set: it has to be seen. */
function asNamed(text: string): string {
  return text === '' ? '""' : text;
}
