import { ok, type Result } from '../../domain/errors.js';
import {
  type DerivedForward,
  deriveForward,
  type ForwardSource,
  sentAsForwardSource,
} from '../../domain/forward.js';
import type { AccountId } from '../../domain/ids.js';
import { deriveReply, type ReplyScope, type ReplySource } from '../../domain/reply.js';
import {
  contentBytes,
  type ForwardInput,
  MAX_MESSAGE_BYTES,
  type NormalForward,
  type NormalReply,
  type NormalSubmission,
  normaliseForward,
  normaliseReply,
  normaliseSubmission,
  type ReplyInput,
  type SubmissionInput,
} from '../../domain/send-input.js';
import { explicitSendIntent, forwardIntent, replyIntent } from '../../domain/send-intent.js';
import type { Store } from '../../store/engine/store.js';
import type { BlobRef } from '../../store/records/blobs.js';
import { addressOf, type InboxRecord } from '../../store/records/inboxes.js';
import { readContent, readWholeBlob } from '../shared/contents.js';
import { retryKey } from '../shared/once.js';
import {
  decodedFiles,
  type OutgoingBody,
  type OutgoingFile,
  type ReplyTarget,
  readSentBodies,
  tooLarge,
} from './outgoing.js';
import type { PreparedSend, SendReceipt } from './send-request.js';
import { findSource, type MessageSource, missingContent, replyTargetOf } from './source.js';
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

/** Passes a message on (specification, ForwardInput; wire contract 3.14). */
export async function forwardMessage(
  deps: SendDeps,
  input: ForwardInput & { readonly accountId: AccountId; readonly inboxId: string },
): Promise<Result<SendReceipt>> {
  const normal = normaliseForward(input);
  if (!normal.ok) return normal;
  const forward = normal.value;
  return submitSend(deps, {
    accountId: input.accountId,
    inboxId: input.inboxId,
    retry: retryKey(input.accountId, 'send', forward.idempotencyKey, () =>
      forwardIntent(input.inboxId, forward),
    ),
    labels: forward.labels,
    prepare: inbox => prepareForward(deps.store, inbox, forward),
  });
}

async function prepareForward(
  store: Store,
  inbox: InboxRecord,
  forward: NormalForward,
): Promise<Result<PreparedSend>> {
  const source = await findSource(store, inbox.id, forward.messageId);
  if (!source.ok) return source;
  const body = async (): Promise<Result<OutgoingBody>> => {
    const made = await makeForward(store, source.value, forward);
    return made.ok ? ok({ ...made.value, replyTo: null }) : made;
  };
  return ok({ recipients: forward.recipients, body });
}

/** All of a forward but its recipients. It answers nothing: a new conversation begins with it. */
export async function makeForward(
  store: Store,
  source: MessageSource,
  options: Pick<NormalForward, 'note' | 'includeAttachments'>,
): Promise<Result<Omit<OutgoingBody, 'replyTo'>>> {
  const original = await readOriginal(store, source);
  if (!original.ok) return original;
  const derived = deriveForward(original.value, options);
  if (!derived.ok) return derived;
  const files = await readFiles(store, source, derived.value);
  if (!files.ok) return files;
  const { subject, text, html } = derived.value;
  return ok({ subject, text, html, files: files.value });
}

/** A content with more JSON cannot come to a message that may be sent. */
const MAX_CONTENT_BYTES = 3 * MAX_MESSAGE_BYTES;

async function readOriginal(store: Store, source: MessageSource): Promise<Result<ForwardSource>> {
  if (source.kind === 'sent') {
    const { record } = source;
    const bodies = await readSentBodies(store, record);
    if (bodies === null) return missingContent(store, record);
    const { text, html = null } = bodies;
    return ok(sentAsForwardSource({ ...record, date: record.reservedAt, text, html }));
  }
  const content = await readContent(store, source.record, MAX_CONTENT_BYTES);
  if (content === null) return missingContent(store, source.record);
  return content === 'too_long' ? tooLarge(MAX_CONTENT_BYTES) : ok(content);
}

/** The original bytes of every file, once it is known that they can fit. */
async function readFiles(
  store: Store,
  source: MessageSource,
  { text, html, files }: DerivedForward,
): Promise<Result<readonly OutgoingFile[]>> {
  const blobs = new Map<string, BlobRef>(placesOf(source).map(({ id, blob }) => [id, blob]));
  const size = contentBytes({
    text,
    html,
    fileSizes: files.map(({ sourceId }) => blobs.get(sourceId)?.size ?? 0),
  });
  if (size > MAX_MESSAGE_BYTES) return tooLarge(size);
  const outgoing: OutgoingFile[] = [];
  for (const { sourceId, ...description } of files) {
    const blob = blobs.get(sourceId);
    const bytes = blob === undefined ? null : await readWholeBlob(store, blob);
    if (bytes === null) return missingContent(store, source.record);
    outgoing.push({ ...description, bytes });
  }
  return ok(outgoing);
}

function placesOf(source: MessageSource): readonly { readonly id: string; readonly blob: BlobRef }[] {
  return source.kind === 'sent' ? source.record.files : source.record.attachments;
}

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
