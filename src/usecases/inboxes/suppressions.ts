import { normaliseReason, toSuppressedAddress } from '../../domain/addresses.js';
import { notFound, refuse } from '../../domain/errors.js';
import { toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import {
  findSuppression,
  putSuppression,
  removeSuppression,
  type SuppressionRecord,
  scanSuppressions,
} from '../../store/records/inboxes.js';
import type { Clock } from '../ports.js';
import { type Cursors, type PageInput, page } from '../shared/pages.js';

/**
 * Nothing is sent to this address any more, in whatever letter case, by any account. An address that is on
 * the list stays as it is, with a new reason if one is given.
 */
export async function addSuppression(
  deps: { store: Store; clock: Clock },
  input: { readonly address: string; readonly reason?: string | undefined },
): Promise<SuppressionView> {
  const address = toSuppressedAddress(input.address);
  if (address === null) {
    throw refuse('invalid_request', `"${input.address}" is no email address: nothing was added.`);
  }
  const reason = normaliseReason(input.reason);
  return deps.store.write(writer => {
    const before = findSuppression(writer, address);
    const after: SuppressionRecord = {
      address,
      reason: reason ?? before?.reason ?? null,
      createdAt: before?.createdAt ?? deps.clock(),
    };
    putSuppression(writer, after);
    return viewSuppression(after);
  });
}

/** Mail may be sent to this address again. Gives what was known of it. */
export async function liftSuppression(deps: { store: Store }, address: string): Promise<SuppressionView> {
  return deps.store.write(writer => {
    const found = findSuppression(writer, address);
    if (found === undefined) throw notFound(`suppressed address ${address}`);
    removeSuppression(writer, found.address);
    return viewSuppression(found);
  }, 'settle');
}

export interface SuppressionView {
  readonly address: string;
  readonly reason: string | null;
  readonly created_at: string;
}

export interface SuppressionPage {
  readonly suppressions: readonly SuppressionView[];
  /** The last address of this page; null at the end of the list. */
  readonly next_cursor: string | null;
}

/** The suppression list, by address. */
export function listSuppressions(deps: { store: Store }, input: PageInput): SuppressionPage {
  const { items, next_cursor } = page(
    ADDRESS_CURSORS,
    input,
    (after, limit) => deps.store.read(reader => scanSuppressions(reader, after, limit)),
    ({ address }) => address,
  );
  return { suppressions: items.map(viewSuppression), next_cursor };
}

/** Only admins see this list: its cursors are the addresses themselves. */
const ADDRESS_CURSORS: Cursors<string> = {
  write: address => address,
  read: cursor => (toSuppressedAddress(cursor) === cursor ? cursor : null),
};

function viewSuppression({ address, reason, createdAt }: SuppressionRecord): SuppressionView {
  return { address, reason, created_at: toInstant(createdAt) };
}
