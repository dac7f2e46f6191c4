import { ok, type Result } from '../domain/errors.js';
import { type AccountPermissions, putAccount } from '../store/accounts.js';
import type { Store } from '../store/store.js';
import { findAccount } from './find-account.js';

export interface PermissionsView extends AccountPermissions {
  readonly account_id: string;
  readonly email: string;
}

/** What is absent stays. */
export type PermissionChange = Partial<AccountPermissions>;

/** Switches what the agents of an account may do, and says what that is. Holds from the next request on. */
export async function setPermissions(
  deps: { store: Store },
  input: { account: string; permissions: PermissionChange },
): Promise<Result<PermissionsView>> {
  return deps.store.write(writer => {
    const found = findAccount(writer, input.account);
    if (!found.ok) return found;
    const permissions = { ...found.value.permissions, ...input.permissions };
    putAccount(writer, { ...found.value, permissions });
    return ok({ account_id: found.value.id, email: found.value.email, ...permissions });
  });
}
