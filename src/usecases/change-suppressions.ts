import { fail, notFound, ok, type Result } from '../domain/errors.js';
import { normaliseReason, toSuppressedAddress } from '../domain/suppression.js';
import type { Store } from '../store/store.js';
import {
  findSuppression,
  putSuppression,
  removeSuppression,
  type SuppressionRecord,
} from '../store/suppressions.js';
import { type SuppressionView, viewSuppression } from './list-suppressions.js';
import type { Clock } from './ports.js';

/**
 * Nothing is sent to this address any more, in whatever letter case, by any account. An address that is on
 * the list stays as it is, with a new reason if one is given.
 */
export async function addSuppression(
  deps: { store: Store; clock: Clock },
  input: { readonly address: string; readonly reason?: string | undefined },
): Promise<Result<SuppressionView>> {
  const address = toSuppressedAddress(input.address);
  if (address === null) {
    return fail('invalid_request', `"${input.address}" is no email address: nothing was added.`);
  }
  const reason = normaliseReason(input.reason);
  if (!reason.ok) return reason;
  return deps.store.write(writer => {
    const before = findSuppression(writer, address);
    const after: SuppressionRecord = {
      address,
      reason: reason.value ?? before?.reason ?? null,
      createdAt: before?.createdAt ?? deps.clock(),
    };
    putSuppression(writer, after);
    return ok(viewSuppression(after));
  });
}

/** Mail may be sent to this address again. Gives what was known of it. */
export async function liftSuppression(
  deps: { store: Store },
  address: string,
): Promise<Result<SuppressionView>> {
  return deps.store.write(writer => {
    const found = findSuppression(writer, address);
    if (found === undefined) return notFound(`suppressed address ${address}`);
    removeSuppression(writer, found.address);
    return ok(viewSuppression(found));
  });
}
