import { ok, type Result } from '../domain/errors.js';
import type { AccountId } from '../domain/ids.js';
import {
  type NormalSubmission,
  normaliseSubmission,
  type SubmissionInput,
} from '../domain/normalise-submission.js';
import { explicitSendIntent } from '../domain/send-intent.js';
import type { InboxRecord } from '../store/inboxes.js';
import type { Store } from '../store/store.js';
import { findSource, replyTargetOf } from './message-source.js';
import { decodedFiles, type ReplyTarget } from './outgoing-content.js';
import { retryKey } from './retry-key.js';
import type { PreparedSend, SendReceipt } from './send-request.js';
import { type SendDeps, submitSend } from './submit-send.js';

/** Sends what the agent has written (specification, `POST /v1/inboxes/{inbox_id}/sent`). */
export async function sendMessage(
  deps: SendDeps,
  input: SubmissionInput & { readonly accountId: AccountId; readonly inboxId: string },
): Promise<Result<SendReceipt>> {
  const normal = normaliseSubmission(input);
  if (!normal.ok) return normal;
  const submission = normal.value;
  return submitSend(deps, {
    accountId: input.accountId,
    inboxId: input.inboxId,
    retry: retryKey(input.accountId, 'send', submission.idempotencyKey, () =>
      explicitSendIntent(input.inboxId, submission),
    ),
    labels: submission.labels,
    prepare: inbox => prepareSend(deps.store, inbox, submission),
  });
}

async function prepareSend(
  store: Store,
  inbox: InboxRecord,
  submission: NormalSubmission,
): Promise<Result<PreparedSend>> {
  const replyTo = await findReplyTarget(store, inbox, submission.inReplyTo);
  if (!replyTo.ok) return replyTo;
  const { recipients, subject, text, html, files } = submission;
  const body = () => ok({ subject, text, html, files: decodedFiles(files), replyTo: replyTo.value });
  return ok({ recipients, body });
}

/** The message that `in_reply_to` names; null when it names none. */
export async function findReplyTarget(
  store: Store,
  inbox: InboxRecord,
  messageId: string | null,
): Promise<Result<ReplyTarget | null>> {
  if (messageId === null) return ok(null);
  const source = await findSource(store, inbox.id, messageId);
  return source.ok ? replyTargetOf(source.value) : source;
}
