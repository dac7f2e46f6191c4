import { fail, ok, type Result } from '../domain/errors.js';
import { toInstant } from '../domain/instants.js';
import { toSuppressedAddress } from '../domain/suppression.js';
import type { Store } from '../store/store.js';
import { type SuppressionRecord, scanSuppressions } from '../store/suppressions.js';

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
export function listSuppressions(
  deps: { store: Store },
  input: { readonly limit: number; readonly cursor: string | null },
): Result<SuppressionPage> {
  const { cursor } = input;
  if (cursor !== null && toSuppressedAddress(cursor) !== cursor) {
    return fail('invalid_cursor', 'The cursor does not belong to this list: start again without one.');
  }
  const found = deps.store.read(reader => scanSuppressions(reader, cursor, input.limit + 1));
  const page = found.slice(0, input.limit);
  const hasMore = found.length > input.limit;
  return ok({
    suppressions: page.map(viewSuppression),
    next_cursor: hasMore ? (page.at(-1)?.address ?? null) : null,
  });
}

export function viewSuppression({ address, reason, createdAt }: SuppressionRecord): SuppressionView {
  return { address, reason, created_at: toInstant(createdAt) };
}
