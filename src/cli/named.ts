import { MAX_SOUGHT_ADDRESS_LENGTH } from '../contract/limits.js';
import { resultOf } from '../domain/errors.js';
import { isUuid } from '../domain/ids.js';
import type { AccountRecord } from '../store/records/accounts.js';
import type { InboxRecord } from '../store/records/inboxes.js';
import { findAccount } from '../usecases/accounts/accounts.js';
import { ADMIN, locateInbox } from '../usecases/shared/callers.js';
import type { Box } from './context.js';
import { type CommandRefusal, failed } from './outcome.js';

/** @throws `CommandRefusal` (`not_found`) when no account has this email address or id */
export function accountNamed({ store }: Box, emailOrId: string): AccountRecord {
  const isName = isUuid(emailOrId) || (emailOrId !== '' && emailOrId.length <= MAX_SOUGHT_ADDRESS_LENGTH);
  const account = isName ? resultOf(() => store.read(reader => findAccount(reader, emailOrId))) : null;
  if (account?.ok === true) return account.value;
  throw failed(
    'not_found',
    `There is no account ${asNamed(emailOrId)}. "postern account list" shows them all.`,
  );
}

/** @throws `CommandRefusal` (`not_found`) when no inbox has this address or id */
export function inboxNamed({ store }: Box, addressOrId: string): InboxRecord {
  const inbox = resultOf(() => store.read(reader => locateInbox(reader, ADMIN, addressOrId)));
  if (!inbox.ok) throw noSuchInbox(addressOrId);
  return inbox.value;
}

export function noSuchInbox(addressOrId: string): CommandRefusal {
  return failed(
    'not_found',
    `There is no inbox ${asNamed(addressOrId)}. "postern inbox list" shows them all.`,
  );
}

/** Quotes an empty name, most likely an unset variable of a script, so that the message shows it. */
function asNamed(text: string): string {
  return text === '' ? '""' : text;
}
