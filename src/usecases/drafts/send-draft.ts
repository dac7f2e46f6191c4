import type { SendDraft } from '../../contract/drafts.js';
import type { SendReceipt } from '../../contract/sent.js';
import { notMuchBefore } from '../../domain/clock.js';
import { notFound, refuse } from '../../domain/errors.js';
import { checkIdempotencyKey } from '../../domain/idempotency.js';
import type { DraftId, MessageId } from '../../domain/ids.js';

import type { OutgoingBody } from '../../domain/message-parts.js';
import { checkComplete } from '../../domain/send-input.js';
import { draftSendIntent } from '../../domain/send-intent.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { type DraftRecord, getDraft, putDraft } from '../../store/records/drafts.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import type { Outgoing } from '../sending/recipe.js';
import { attemptOf, type SendDeps, submitSend } from '../sending/submit-send.js';
import { readFiles } from '../shared/contents.js';
import type { Hand } from '../shared/in-hand.js';
import { retryKey } from '../shared/once.js';
import { findReplyTarget } from '../shared/sources.js';
import { type DraftTarget, locateDraft, outcomeOf, readDraftTexts } from './read-draft.js';

/**
 * Sends a draft as saved (`sendDraft`). The unit of work that reserves the send also marks the draft as submitted, if
 * it is still the version that was read: after an edit in between, the send is refused with `draft_busy`; a later edit
 * is refused. Sending a submitted draft again returns its attempt, whatever the outcome, with no time limit.
 */
export async function sendDraft(
  deps: SendDeps,
  input: DraftTarget & SendDraft & { readonly hand?: Hand | null },
): Promise<SendReceipt> {
  const { hand = null } = input;
  const key = checkIdempotencyKey(input.idempotency_key);
  const { draft, inbox } = deps.store.read(reader => locateDraft(reader, input));
  return submitSend(deps, {
    accountId: input.accountId,
    inboxId: inbox.id,
    retry: retryKey(input.accountId, 'send', key, () => draftSendIntent(draft.id)),
    labels: draft.labels,
    hand,
    derive: current => derive(deps.store, current, draft, hand),
    draft: {
      attempt: reader => findAttempt(reader, draft.id),
      admit: reader => checkUnchanged(reader, draft),
      submit: (writer, sentId, nowMs) => freeze(writer, draft, sentId, nowMs),
    },
  });
}

/** The attempt of a submitted draft; null while it has not been submitted. */
function findAttempt(reader: Reader, id: DraftId): SendReceipt | null {
  const draft = getDraft(reader, id);
  if (draft === undefined) throw notFound('draft');
  if (draft.sentMessageId === null) return null;
  const receipt = attemptOf(reader, draft.sentMessageId);
  if (receipt === null) {
    throw refuse(
      'draft_result_unavailable',
      'The draft was submitted and its sent copy has been deleted since; nothing was sent again.',
    );
  }
  return { ...receipt, replayed: true };
}

function checkUnchanged(reader: Reader, read: DraftRecord): void {
  if (getDraft(reader, read.id)?.version === read.version) return;
  throw refuse(
    'draft_busy',
    'Another change of the draft came first; nothing was sent. Look at what is in it now, then send it again.',
  );
}

async function derive(
  store: Store,
  inbox: InboxRecord,
  draft: DraftRecord,
  hand: Hand | null,
): Promise<Outgoing> {
  await hand?.takeWork(bytesOfDraft(draft));
  const outcome = await outcomeOf(readBody(store, draft));
  // The parts read may belong to two versions: do not refuse a content that nobody wrote.
  store.read(reader => checkUnchanged(reader, draft));
  const { text, html, files } = outcome();
  const { to, cc, bcc, subject } = draft;
  checkComplete({ to, subject, text });
  const replyTarget = await findReplyTarget(store, inbox, draft.inReplyTo);
  return { recipients: { to, cc, bcc }, body: () => ({ subject, text, html, files, replyTarget }) };
}

function bytesOfDraft({ text, html, files }: DraftRecord): number {
  const texts = (text?.size ?? 0) + (html?.size ?? 0);
  return files.reduce((sum, { blob }) => sum + blob.size, texts);
}

async function readBody(
  store: Store,
  draft: DraftRecord,
): Promise<Pick<OutgoingBody, 'text' | 'html' | 'files'>> {
  const texts = await readDraftTexts(store, draft);
  return { ...texts, files: await readFiles(store, draft.files) };
}

/** Submits the draft, which is what was read. */
function freeze(writer: Writer, draft: DraftRecord, sentId: MessageId, nowMs: number): void {
  putDraft(writer, draft, {
    ...draft,
    state: 'submitted',
    sentMessageId: sentId,
    updatedAt: notMuchBefore(nowMs, draft.updatedAt),
    version: draft.version + 1,
  });
}
