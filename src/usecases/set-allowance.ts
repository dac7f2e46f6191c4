import { fail, ok, type Result } from '../domain/errors.js';
import { type AccountRecord, putAccount } from '../store/accounts.js';
import { usedAllowance } from '../store/charges.js';
import type { Reader } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { type DefaultLimits, inboxAllowance } from './allowances.js';
import { findAccount } from './find-account.js';
import type { Clock } from './ports.js';

/** What an account may use and uses; `sends` is recipient-deliveries in 24 hours. */
export interface AllowanceView {
  readonly account_id: string;
  readonly email: string;
  readonly inboxes: AllowanceOf;
  readonly sends: AllowanceOf;
}

interface AllowanceOf {
  readonly allowance: number;
  readonly used: number;
  /** It follows the configuration. */
  readonly is_default: boolean;
}

type Deps = { readonly store: Store; readonly clock: Clock; readonly limits: DefaultLimits };

const MAX_ALLOWANCE = 1_000_000;

export function showAllowance(deps: Deps, account: string): Result<AllowanceView> {
  return deps.store.read(reader => {
    const found = findAccount(reader, account);
    return found.ok ? ok(view(reader, found.value, deps)) : found;
  });
}

/** Sets caps of one account; what is absent stays. Applies to the next request. */
export async function setAllowance(
  deps: Deps,
  input: { account: string; inboxes?: number | undefined; sends?: number | undefined },
): Promise<Result<AllowanceView>> {
  for (const [name, value] of Object.entries({ inboxes: input.inboxes, sends: input.sends })) {
    if (value !== undefined && !(Number.isInteger(value) && value >= 0 && value <= MAX_ALLOWANCE)) {
      return fail('invalid_request', `${name} must be a whole number from 0 to ${MAX_ALLOWANCE}.`);
    }
  }
  return deps.store.write(writer => {
    const found = findAccount(writer, input.account);
    if (!found.ok) return found;
    const account: AccountRecord = {
      ...found.value,
      inboxLimit: input.inboxes ?? found.value.inboxLimit,
      sendLimit: input.sends ?? found.value.sendLimit,
    };
    putAccount(writer, account);
    return ok(view(writer, account, deps));
  });
}

function view(reader: Reader, account: AccountRecord, { limits, clock }: Deps): AllowanceView {
  const { allowance, used } = inboxAllowance(reader, account, limits);
  return {
    account_id: account.id,
    email: account.email,
    inboxes: { allowance, used, is_default: account.inboxLimit === null },
    sends: {
      allowance: account.sendLimit ?? limits.sends,
      used: usedAllowance(reader, account.id, clock()),
      is_default: account.sendLimit === null,
    },
  };
}
