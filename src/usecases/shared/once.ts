import type { Keyed } from '../../contract/common.js';
import { Refusal, refuse } from '../../domain/errors.js';
import { KEY_LIFETIME_MS } from '../../domain/idempotency.js';
import type { AccountId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { findActiveKey, type IdempotencyKey, putKey } from '../../store/records/pending.js';
import { type Clock, lapseInstant } from '../ports.js';

/** An idempotency key, and the digest of what a retry under it must match. */
export interface RetryKey {
  readonly key: IdempotencyKey;
  readonly intent: string;
}

/**
 * By which retries of a request are known; null when it gave no key. The digest reads every text and file, so it
 * is worked out for a key only.
 */
export function retryKey(
  accountId: AccountId,
  namespace: IdempotencyKey['namespace'],
  key: string | null,
  intent: () => string,
): RetryKey | null {
  return key === null ? null : { key: { accountId, namespace, key }, intent: intent() };
}

/** Something that a key makes once. */
export interface MadeOnce<View> {
  /** What it is, in a word for refusals: `inbox`. */
  readonly what: string;
  /** What was made under an id; null when it has gone since. */
  readonly find: (id: string) => View | null;
}

/**
 * The result of a retry under a used key: what the first request made. Null when the key is unused. Refuses other input
 * under the key (`idempotency_conflict`), and a result that was deleted since (`idempotency_result_unavailable`).
 */
export function replay<View extends object>(
  reader: Reader,
  retry: RetryKey | null,
  clock: Clock,
  { what, find }: MadeOnce<View>,
): (View & Keyed) | null {
  // While the clock is in doubt no key is forgotten: making a thing twice cannot be undone.
  const used = retry === null ? undefined : findActiveKey(reader, retry.key, lapseInstant(clock));
  if (retry === null || used === undefined) return null;
  if (used.intent !== retry.intent) {
    throw refuse(
      'idempotency_conflict',
      `This key was first used with different input; nothing was done. Use a new key for a new ${what}.`,
    );
  }
  const view = find(used.resultId);
  if (view === null) {
    throw refuse(
      'idempotency_result_unavailable',
      `The ${what} that this key made has been deleted since; nothing was made again.`,
    );
  }
  return { ...view, replayed: true, idempotency_expires_at: toInstant(used.expiresAt) };
}

/**
 * Makes something once for a key, or finds what the key made, in one unit of work, so that concurrent requests get one
 * result. Without a key it is always made. A refusal leaves the key unused.
 */
export function once<Found extends object, Made extends object>(
  writer: Writer,
  retry: RetryKey | null,
  clock: Clock,
  {
    make,
    ...made
  }: MadeOnce<Found> & { readonly make: (nowMs: number) => { readonly id: string; readonly view: Made } },
): (Found | Made) & Keyed {
  const found = replay(writer, retry, clock, made);
  if (found !== null) return found;
  const nowMs = clock();
  const { id, view } = make(nowMs);
  return { ...view, ...keep(writer, retry, id, nowMs) };
}

/** Keeps what a key has made, in the unit of work that makes it. */
export function keep(writer: Writer, retry: RetryKey | null, id: string, nowMs: number): Keyed {
  if (retry === null) return {};
  const expiresAt = nowMs + KEY_LIFETIME_MS;
  putKey(writer, retry.key, { intent: retry.intent, resultId: id, expiresAt });
  return { replayed: false, idempotency_expires_at: toInstant(expiresAt) };
}

/**
 * For results that take work before their unit of work: looks for an existing one first, else makes it. When making it
 * is refused it looks again, because a replay comes before every other check and another request may have made it
 * meanwhile.
 */
export async function findOrMake<View>(look: () => View | null, make: () => Promise<View>): Promise<View> {
  const found = look();
  if (found !== null) return found;
  try {
    return await make();
  } catch (error) {
    const since = error instanceof Refusal ? look() : null;
    if (since === null) throw error;
    return since;
  }
}
