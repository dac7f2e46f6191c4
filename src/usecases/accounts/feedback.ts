import type { FeedbackInput, FeedbackResult } from '../../contract/feedback.js';
import { MAX_FEEDBACK_TITLE_BYTES } from '../../contract/limits.js';
import { domainOf, isEmailAddress } from '../../domain/addresses.js';
import { refuse } from '../../domain/errors.js';
import { type AccountId, type FeedbackId, type MessageId, newId } from '../../domain/ids.js';
import { DAY_MS, toInstant } from '../../domain/instants.js';
import { trimmed } from '../../domain/text.js';
import { reasonOf } from '../../lib/async.js';
import { composeMessage } from '../../mail/write/compose-message.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { type AccountRecord, getAccount } from '../../store/records/accounts.js';
import {
  bytesOfFeedback,
  type FeedbackRecord,
  feedbackPaceTable,
  putFeedback,
  scanFeedback,
} from '../../store/records/approvals.js';
import { addPending } from '../../store/records/pending.js';
import type { Clock, Logger, Relay, SystemMail } from '../ports.js';
import { type PageInput, page, plainCursors } from '../shared/pages.js';
import { checkStorage, type StorageLimits } from '../shared/storage.js';

export interface SubmitFeedbackDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly mail: SystemMail;
  /** Where the operator reads: an address of this service, so that it is delivered in process. */
  readonly operator: string;
  readonly serviceName: string;
  readonly log: Logger;
  readonly limits: StorageLimits;
}

/** Feedback of an account that is mailed in a day as it comes; the rest is told in one digest when the day is over. */
const MAILED_PER_DAY = 20;

/**
 * Stores feedback from an agent for the operator (`createFeedback`). Resolves after the flush. The operator also gets a
 * copy by mail, or later a digest when there is much of it; when that fails the log says so, and nothing else happens.
 * @throws `invalid_request`, `storage_limit_reached`
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
  const isMailed = await deps.store.write(writer => {
    checkStorage(writer, deps.limits, account.id, bytesOfFeedback(feedback));
    putFeedback(writer, feedback);
    return noteFeedback(writer, account.id, nowMs);
  });
  deps.log.info({ feedback_id: id, account_id: account.id }, 'feedback was received');
  if (isMailed) void mailToOperator(deps, account, feedback);
  return { id, status: 'received' };
}

/** Counts feedback of an account; false when the operator has got enough of it for the day, and gets a digest. */
function noteFeedback(writer: Writer, accountId: AccountId, nowMs: number): boolean {
  const known = writer.get(feedbackPaceTable, accountId);
  const isOfToday = known !== undefined && known.sinceMs <= nowMs && nowMs - known.sinceMs < DAY_MS;
  // What the digest is to tell of is counted until it has been mailed, which ends the entry.
  const isCounted = isOfToday || (known !== undefined && known.count > MAILED_PER_DAY);
  const pace = isCounted ? { ...known, count: known.count + 1 } : { sinceMs: nowMs, count: 1 };
  writer.put(feedbackPaceTable, accountId, pace);
  if (pace.count === MAILED_PER_DAY + 1) {
    addPending(writer, pace.sinceMs + DAY_MS, { kind: 'feedback-digest', id: accountId });
  }
  return pace.count <= MAILED_PER_DAY;
}

/**
 * Mails the operator how much feedback an account has given in a day beyond what was mailed as it came.
 * @throws SystemMailError
 */
export async function mailFeedbackDigest(
  { store, mail, operator, serviceName }: Omit<SubmitFeedbackDeps, 'limits'>,
  accountId: AccountId,
): Promise<void> {
  const [account, pace] = store.read(
    reader => [getAccount(reader, accountId), reader.get(feedbackPaceTable, accountId)] as const,
  );
  if (account === undefined || pace === undefined || pace.count <= MAILED_PER_DAY) return;
  const more = pace.count - MAILED_PER_DAY;
  const text = [
    `Agents of ${account.email} (account ${account.id}) have given feedback ${pace.count} times since`,
    `${toInstant(pace.sinceMs)}. The first ${MAILED_PER_DAY} were mailed to you; these ${more} were not:`,
    '"postern feedback list" shows all of it.',
    '',
    '-- ',
    `${serviceName}`,
    '',
  ].join('\n');
  await mail.send({ to: operator, subject: `Feedback: ${more} more of ${account.email}`, text });
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
  const domain = domainOf(from.address);
  return {
    async send({ to, subject, text }) {
      if (!isEmailAddress(to)) throw new SystemMailError('the recipient is no address');
      const nowMs = clock();
      const id = newId<MessageId>(nowMs);
      const content = await composeMessage({
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
        mentionsItself: false,
        files: [],
      });
      const envelope = { from: from.address, recipients: [to] };
      const outcome = await relay.submit({ id, envelope, content, isNotice: true });
      // `unknown` may have arrived, and a second copy would do no harm: the human asks again where none came.
      if (outcome.status !== 'accepted') throw new SystemMailError(`${outcome.errorCode}: ${outcome.detail}`);
    },
  };
}
