import type { FeedbackInput, FeedbackResult } from '../../contract/feedback.js';
import { MAX_FEEDBACK_TITLE_BYTES } from '../../contract/limits.js';
import { isEmailAddress } from '../../domain/addresses.js';
import { refuse } from '../../domain/errors.js';
import { type FeedbackId, type MessageId, newId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { trimmed } from '../../domain/text.js';
import { reasonOf } from '../../lib/async.js';
import { composeMessage } from '../../mail/write/compose-message.js';
import type { Store } from '../../store/engine/store.js';
import { type AccountRecord, getAccount } from '../../store/records/accounts.js';
import { type FeedbackRecord, putFeedback, scanFeedback } from '../../store/records/approvals.js';
import type { Clock, Logger, Relay, SystemMail } from '../ports.js';
import { type PageInput, page, plainCursors } from '../shared/pages.js';

export interface SubmitFeedbackDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly mail: SystemMail;
  /** Where the operator reads: an address of this service, so that it is delivered in process. */
  readonly operator: string;
  readonly serviceName: string;
  readonly log: Logger;
}

/**
 * Stores feedback from an agent for the operator (`createFeedback`). Resolves after the flush. The operator also gets a
 * copy by mail; when that fails the log says so, and nothing else happens.
 */
export async function submitFeedback(
  deps: SubmitFeedbackDeps,
  input: FeedbackInput & { readonly account: AccountRecord },
): Promise<FeedbackResult> {
  const { account, body } = input;
  const title = trimmed(input.title);
  if (title !== null && Buffer.byteLength(title) > MAX_FEEDBACK_TITLE_BYTES) {
    throw refuse('invalid_request', `title must be at most ${MAX_FEEDBACK_TITLE_BYTES} bytes of UTF-8.`);
  }
  if (body.trim() === '') throw refuse('invalid_request', 'body must say something.');
  if (!body.isWellFormed() || title?.isWellFormed() === false) {
    throw refuse('invalid_request', 'title and body must be well-formed Unicode.');
  }
  const nowMs = deps.clock();
  const id = newId<FeedbackId>(nowMs);
  const feedback: FeedbackRecord = { id, accountId: account.id, createdAt: nowMs, title, body };
  await deps.store.write(writer => putFeedback(writer, feedback));
  deps.log.info({ feedback_id: id, account_id: account.id }, 'feedback was received');
  void mailToOperator(deps, account, feedback);
  return { id, status: 'received' };
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
    const reason = reasonOf(error);
    log.warn({ feedback_id: id, reason }, 'feedback is kept but could not be mailed to the operator');
  }
}

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
export function listFeedback(deps: { readonly store: Store }, input: PageInput): FeedbackPage {
  return deps.store.read(reader => {
    const { items, next_cursor } = page(
      plainCursors<FeedbackId>(),
      input,
      (before, limit) => scanFeedback(reader, before, limit),
      ({ id }) => id,
    );
    const feedback = items.map(({ id, createdAt, accountId, title, body }) => ({
      id,
      created_at: toInstant(createdAt),
      account_id: accountId,
      email: getAccount(reader, accountId)?.email ?? null,
      title,
      body,
    }));
    return { feedback, next_cursor };
  });
}

export interface SystemMailDeps {
  readonly relay: Relay;
  readonly clock: Clock;
  /** Whom such mail comes from; bounces come back there, to the operator. */
  readonly from: { readonly address: string; readonly name: string };
}

/** The relay did not take a mail; `message` says why. */
export class SystemMailError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SystemMailError';
  }
}

/** Writes mail of the service itself and hands it to the relay, once. */
export function createSystemMail(deps: SystemMailDeps): SystemMail {
  const { relay, clock, from } = deps;
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    async send({ to, subject, text }) {
      if (!isEmailAddress(to)) throw new SystemMailError('the recipient is no address');
      const nowMs = clock();
      const id = newId<MessageId>(nowMs);
      const content = composeMessage({
        id,
        messageId: `${id}@${domain}`,
        date: nowMs,
        from,
        to: [{ address: to }],
        cc: [],
        subject,
        text,
        html: null,
        replyHeaders: null,
        files: [],
      });
      const outcome = await relay.submit({ id, envelope: { from: from.address, recipients: [to] }, content });
      // `unknown` may have arrived, and a second copy would do no harm: the human asks again where none came.
      if (outcome.status !== 'accepted') throw new SystemMailError(`${outcome.errorCode}: ${outcome.detail}`);
    },
  };
}
