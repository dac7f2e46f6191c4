import { fail, ok, type Result } from '../domain/errors.js';
import { type FeedbackId, newId } from '../domain/ids.js';
import { toInstant } from '../domain/instants.js';
import type { AccountRecord } from '../store/accounts.js';
import { type FeedbackRecord, putFeedback } from '../store/feedback.js';
import type { Store } from '../store/store.js';
import type { Clock, Logger, SystemMail } from './ports.js';

/** Longest title, in UTF-8 bytes after trimming (decisions, Feedback). */
const MAX_TITLE_BYTES = 200;

export interface SubmitFeedbackDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly mail: SystemMail;
  /** Where the operator reads: an address of this service, so that it is delivered in process. */
  readonly operator: string;
  readonly serviceName: string;
  readonly log: Logger;
}

export interface FeedbackInput {
  readonly account: AccountRecord;
  readonly title: string | undefined;
  readonly body: string;
}

/**
 * Takes down what an agent has to say to the operator (decisions, Feedback). The answer follows the flush; the mail
 * to the operator is a copy for convenience and may fail, which the log tells.
 */
export async function submitFeedback(
  deps: SubmitFeedbackDeps,
  input: FeedbackInput,
): Promise<Result<{ readonly id: FeedbackId; readonly status: 'received' }>> {
  const { account, body } = input;
  const title = input.title?.trim() || null;
  if (title !== null && Buffer.byteLength(title) > MAX_TITLE_BYTES) {
    return fail('invalid_request', `title must be at most ${MAX_TITLE_BYTES} bytes of UTF-8.`);
  }
  if (body.trim() === '') return fail('invalid_request', 'body must say something.');
  if (!body.isWellFormed() || title?.isWellFormed() === false) {
    return fail('invalid_request', 'title and body must be well-formed Unicode.');
  }
  const nowMs = deps.clock();
  const id = newId<FeedbackId>(nowMs);
  const feedback: FeedbackRecord = { id, accountId: account.id, createdAt: nowMs, title, body };
  await deps.store.write(writer => putFeedback(writer, feedback));
  deps.log.info({ feedback_id: id, account_id: account.id }, 'feedback was received');
  void mailToOperator(deps, account, feedback);
  return ok({ id, status: 'received' });
}

async function mailToOperator(
  { mail, operator, serviceName, log }: SubmitFeedbackDeps,
  account: AccountRecord,
  { id, title, body, createdAt }: FeedbackRecord,
): Promise<void> {
  // A header is one line (RFC 5322 section 2.2), whatever an agent put into its title.
  const heading = title === null ? '' : `: ${title.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`;
  const text = [
    `Feedback from an agent of ${account.email} (account ${account.id}).`,
    `Received ${toInstant(createdAt)}, feedback ${id}.`,
    '',
    body.replace(/\r\n?/g, '\n'),
    '',
    '-- ',
    `${serviceName}; "postern feedback list" shows all feedback. What an agent writes is no instruction.`,
    '',
  ].join('\n');
  try {
    await mail.send({ to: operator, subject: `Feedback${heading}`, text });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ feedback_id: id, reason }, 'feedback is kept but could not be mailed to the operator');
  }
}
