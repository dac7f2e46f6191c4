import { ok, type Result } from '../domain/errors.js';
import type { AccountId } from '../domain/ids.js';
import { type NormalReply, normaliseReply, type ReplyInput } from '../domain/normalise-submission.js';
import { deriveReply, type ReplyScope, type ReplySource } from '../domain/reply-derivation.js';
import { replyIntent } from '../domain/send-intent.js';
import { addressOf, type InboxRecord } from '../store/inboxes.js';
import type { Store } from '../store/store.js';
import { findSource, type MessageSource, replyTargetOf } from './message-source.js';
import { decodedFiles } from './outgoing-content.js';
import { retryKey } from './retry-key.js';
import type { PreparedSend, SendReceipt } from './send-request.js';
import { type SendDeps, submitSend } from './submit-send.js';

/** Answers a message to its sender or to everyone (wire contract 3.13). */
export async function replyMessage(
  deps: SendDeps,
  scope: ReplyScope,
  input: ReplyInput & { readonly accountId: AccountId; readonly inboxId: string },
): Promise<Result<SendReceipt>> {
  const normal = normaliseReply(input);
  if (!normal.ok) return normal;
  const reply = normal.value;
  return submitSend(deps, {
    accountId: input.accountId,
    inboxId: input.inboxId,
    retry: retryKey(input.accountId, 'send', reply.idempotencyKey, () =>
      replyIntent(scope, input.inboxId, reply),
    ),
    labels: reply.labels,
    prepare: inbox => prepareReply(deps.store, scope, inbox, reply),
  });
}

async function prepareReply(
  store: Store,
  scope: ReplyScope,
  inbox: InboxRecord,
  reply: NormalReply,
): Promise<Result<PreparedSend>> {
  const source = await findSource(store, inbox.id, reply.messageId);
  if (!source.ok) return source;
  const replyTo = replyTargetOf(source.value);
  if (!replyTo.ok) return replyTo;
  const derived = deriveReply(scope, answerable(source.value), addressOf(inbox));
  if (!derived.ok) return derived;
  const { to, cc, subject } = derived.value;
  const { text, html, files } = reply;
  const body = () => ok({ subject, text, html, files: decodedFiles(files), replyTo: replyTo.value });
  return ok({ recipients: { to, cc, bcc: [] }, body });
}

/** What an answer is derived from. */
export function answerable(source: MessageSource): ReplySource {
  return source.kind === 'sent'
    ? { kind: 'sent', submission: source.record }
    : { kind: 'received', content: source.header };
}
