import { setTimeout as delay } from 'node:timers/promises';

/**
 * Why a commit failed: lmdb-js rejects a second promise with it, which must not go unhandled. Mostly that is in the same
 * event turn; when the commit is one of several, it is when its thread has ended with all of them.
 */
export async function commitError(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  const giveUp = new AbortController();
  const late = delay(CAUSE_MS, error, { signal: giveUp.signal });
  const cause = await Promise.race([error.commitError, late]).catch((reason: unknown) => reason);
  giveUp.abort();
  late.catch(() => undefined);
  return cause;
}

/** How long the cause of a failed commit is waited for. */
const CAUSE_MS = 2_000;
