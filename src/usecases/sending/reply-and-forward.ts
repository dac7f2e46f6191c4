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
): Promise<SendReceipt> {
  const normal = normaliseReply(input);
  const reply = normal;
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
): Promise<PreparedSend> {
  const source = await findSource(store, inbox.id, reply.messageId);
  const replyTo = replyTargetOf(source);
  const derived = deriveReply(scope, answerable(source), addressOf(inbox));
  const { to, cc, subject } = derived;
  const { text, html, files } = reply;
  const body = () => ({ subject, text, html, files: decodedFiles(files), replyTo });
  return { recipients: { to, cc, bcc: [] }, body };
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
): Promise<SendReceipt> {
  const normal = normaliseForward(input);
  const forward = normal;
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
): Promise<PreparedSend> {
  const source = await findSource(store, inbox.id, forward.messageId);
  const body = async (): Promise<OutgoingBody> => {
    const made = await makeForward(store, source, forward);
    return { ...made, replyTo: null };
  };
  return { recipients: forward.recipients, body };
}

/** All of a forward but its recipients. It answers nothing: a new conversation begins with it. */
export async function makeForward(
  store: Store,
  source: MessageSource,
  options: Pick<NormalForward, 'note' | 'includeAttachments'>,
): Promise<Omit<OutgoingBody, 'replyTo'>> {
  const original = await readOriginal(store, source);
  const derived = deriveForward(original, options);
  const files = await readFiles(store, source, derived);
  const { subject, text, html } = derived;
  return { subject, text, html, files };
}

/** A content with more JSON cannot come to a message that may be sent. */
const MAX_CONTENT_BYTES = 3 * MAX_MESSAGE_BYTES;

async function readOriginal(store: Store, source: MessageSource): Promise<ForwardSource> {
  if (source.kind === 'sent') {
    const { record } = source;
    const bodies = await readSentBodies(store, record);
    if (bodies === null) throw missingContent(store, record);
    const { text, html = null } = bodies;
    return sentAsForwardSource({ ...record, date: record.reservedAt, text, html });
  }
  const content = await readContent(store, source.record, MAX_CONTENT_BYTES);
  if (content === null) throw missingContent(store, source.record);
  if (content === 'too_long') throw tooLarge(MAX_CONTENT_BYTES);
  return content;
}

/** The original bytes of every file, once it is known that they can fit. */
async function readFiles(
  store: Store,
  source: MessageSource,
  { text, html, files }: DerivedForward,
): Promise<readonly OutgoingFile[]> {
  const blobs = new Map<string, BlobRef>(placesOf(source).map(({ id, blob }) => [id, blob]));
  const size = contentBytes({
    text,
    html,
    fileSizes: files.map(({ sourceId }) => blobs.get(sourceId)?.size ?? 0),
  });
  if (size > MAX_MESSAGE_BYTES) throw tooLarge(size);
  const outgoing: OutgoingFile[] = [];
  for (const { sourceId, ...description } of files) {
    const blob = blobs.get(sourceId);
    const bytes = blob === undefined ? null : await readWholeBlob(store, blob);
    if (bytes === null) throw missingContent(store, source.record);
    outgoing.push({ ...description, bytes });
  }
  return outgoing;
}

function placesOf(source: MessageSource): readonly { readonly id: string; readonly blob: BlobRef }[] {
  return source.kind === 'sent' ? source.record.files : source.record.attachments;
}

/** Sends what the agent has written (specification, `POST /v1/inboxes/{inbox_id}/sent`). */
export async function sendMessage(
  deps: SendDeps,
  input: SubmissionInput & { readonly accountId: AccountId; readonly inboxId: string },
): Promise<SendReceipt> {
  const normal = normaliseSubmission(input);
  const submission = normal;
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
): Promise<PreparedSend> {
  const replyTo = await findReplyTarget(store, inbox, submission.inReplyTo);
  const { recipients, subject, text, html, files } = submission;
  const body = () => ({ subject, text, html, files: decodedFiles(files), replyTo });
  return { recipients, body };
}

/** The message that `in_reply_to` names; null when it names none. */
export async function findReplyTarget(
  store: Store,
  inbox: InboxRecord,
  messageId: string | null,
): Promise<ReplyTarget | null> {
  if (messageId === null) return null;
  const source = await findSource(store, inbox.id, messageId);
  return replyTargetOf(source);
}
