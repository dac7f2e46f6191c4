import { fail, ok, type Result } from '../domain/errors.js';
import { type FeedbackId, toId } from '../domain/ids.js';
import { toInstant } from '../domain/instants.js';
import { getAccount } from '../store/accounts.js';
import { scanFeedback } from '../store/feedback.js';
import type { Store } from '../store/store.js';

/** Feedback as the command line shows it. */
export interface FeedbackView {
  readonly id: string;
  readonly created_at: string;
  readonly account_id: string;
  readonly email: string | null;
  readonly title: string | null;
  readonly body: string;
}

export interface FeedbackPage {
  readonly feedback: readonly FeedbackView[];
  readonly next_cursor: string | null;
}

/** Feedback, newest first. */
export function listFeedback(
  deps: { readonly store: Store },
  input: { readonly limit: number; readonly cursor: string | null },
): Result<FeedbackPage> {
  const before = input.cursor === null ? null : toId<FeedbackId>(input.cursor);
  if (input.cursor !== null && before === null) {
    return fail('invalid_cursor', 'The cursor must be the next_cursor of an earlier page.');
  }
  return deps.store.read(reader => {
    const found = scanFeedback(reader, before, input.limit + 1);
    const page = found.slice(0, input.limit);
    const feedback = page.map(({ id, createdAt, accountId, title, body }) => ({
      id,
      created_at: toInstant(createdAt),
      account_id: accountId,
      email: getAccount(reader, accountId)?.email ?? null,
      title,
      body,
    }));
    return ok({ feedback, next_cursor: found.length > page.length ? (page.at(-1)?.id ?? null) : null });
  });
}
