import { fail, ok, type Result } from '../domain/errors.js';
import type { AccountId } from '../domain/ids.js';
import { type AccountPermissions, getAccount } from '../store/accounts.js';
import type { Reader } from '../store/reader-writer.js';

const WORDS: Record<keyof AccountPermissions, string> = {
  send: 'Sending',
  delete: 'Deletion',
  restore: 'Restoring',
};

/** May the account do this? An admin can switch each off (specification, Authentication rule 4). */
export function isPermitted(
  reader: Reader,
  accountId: AccountId,
  permission: keyof AccountPermissions,
): Result<true> {
  return getAccount(reader, accountId)?.permissions[permission] === true
    ? ok<true>(true)
    : fail(
        'operation_not_allowed',
        `${WORDS[permission]} is switched off for this account. Ask its administrator.`,
      );
}
