import type { Deleted } from '../../contract/common.js';
import type { DraftMetadata, DraftPage } from '../../contract/drafts.js';
import { MAX_MESSAGE_BYTES } from '../../contract/limits.js';
import { notFound } from '../../domain/errors.js';
import { type AccountId, type DraftId, toId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { CursorCodec } from '../../domain/paging.js';
import { contentBytes, tooLarge } from '../../domain/send-input.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { releaseBlob } from '../../store/records/blobs.js';
import {
  blobsOfDraft,
  type DraftList,
  type DraftRecord,
  getDraft,
  removeDraft,
  scanDrafts,
} from '../../store/records/drafts.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import { senderOf } from '../inboxes/inboxes.js';
import type { Clock } from '../ports.js';
import { checkPermitted, locateInbox, reachedInbox } from '../shared/callers.js';
import { type ByteStream, fillInFiles, readText } from '../shared/contents.js';
import { idCursors, page } from '../shared/pages.js';

/** A draft with its content as JSON bytes (`getDraft`). Files are streamed as base64. */
export async function getDraftDetail(
  { store }: { readonly store: Store },
  input: DraftTarget,
): Promise<ByteStream> {
  let located = store.read(reader => locateDraft(reader, input));
  for (;;) {
    const { draft, inbox } = located;
    const outcome = await outcomeOf(readDetail(store, draft, inbox));
    located = store.read(reader => locateDraft(reader, input));
    // The draft was edited meanwhile: the parts read may belong to two versions.
    if (located.draft.version === draft.version) return outcome();
  }
}

async function readDetail(store: Store, draft: DraftRecord, inbox: InboxRecord): Promise<ByteStream> {
  const { text, html } = await readDraftTexts(store, draft);
  const { to, cc, bcc, subject, inReplyTo, labels } = draft;
  const content = {
    to,
    cc,
    bcc,
    subject,
    text,
    attachments: [],
    ...(html === null ? {} : { html }),
    ...(inReplyTo === null ? {} : { in_reply_to: inReplyTo }),
    ...(labels.length === 0 ? {} : { labels }),
  };
  const json = JSON.stringify({ ...viewDraft(draft), from: senderOf(inbox), content });
  return fillInFiles(json, draft.files, store);
}

/** The texts of a draft. @throws content_unavailable */
export async function readDraftTexts(
  store: Store,
  { text, html }: DraftRecord,
): Promise<{ readonly text: string; readonly html: string | null }> {
  return {
    text: text === null ? '' : await readText(store, text),
    html: html === null ? null : await readText(store, html),
  };
}

/**
 * The result of a read, judged later: a draft may be changed or deleted while it is read, and then missing parts are no
 * damage.
 */
export function outcomeOf<Value>(reading: Promise<Value>): Promise<() => Value> {
  return reading.then(
    value => () => value,
    error => () => {
      throw error;
    },
  );
}

/** The drafts of an inbox in a state, last created first (`listDrafts`). */
export function listDrafts(
  deps: { readonly store: Store; readonly cursors: CursorCodec },
  input: {
    readonly accountId: AccountId;
    readonly inboxId: string;
    readonly list: DraftList;
    readonly limit: number;
    readonly cursor: string | null;
  },
): DraftPage {
  return deps.store.read(reader => {
    const inbox = locateInbox(reader, input, input.inboxId);
    const cursors = idCursors<DraftId>(deps.cursors, `drafts ${inbox.id} ${input.list}`);
    const { items, next_cursor } = page(
      { ...cursors, invalid: 'invalid_draft' },
      input,
      (before, limit) => scanDrafts(reader, inbox.id, input.list, before, limit),
      id => id,
    );
    const drafts = items.flatMap(id => {
      const draft = getDraft(reader, id);
      return draft === undefined ? [] : [viewDraft(draft)];
    });
    return { drafts, next_cursor };
  });
}

/** How a draft looks to an agent, without its content. */
export function viewDraft(draft: DraftRecord): DraftMetadata {
  return {
    id: draft.id,
    inbox_id: draft.inboxId,
    state: draft.state,
    subject: draft.subject,
    created_at: toInstant(draft.createdAt),
    updated_at: toInstant(draft.updatedAt),
    sent_message_id: draft.sentMessageId,
  };
}

/** What an agent asks for with a draft's id. */
export interface DraftTarget {
  readonly accountId: AccountId;
  /** Text from outside. */
  readonly draftId: string;
}

export interface LocatedDraft {
  readonly draft: DraftRecord;
  readonly inbox: InboxRecord;
}

/** A draft of the caller; its inbox decides the owner, so that drafts of a deleted inbox are gone at once. */
export function locateDraft(reader: Reader, input: DraftTarget): LocatedDraft {
  const id = toId<DraftId>(input.draftId);
  const draft = id === null ? undefined : getDraft(reader, id);
  const inbox = draft === undefined ? null : reachedInbox(reader, input, draft.inboxId);
  if (draft === undefined || inbox === null) throw notFound('draft');
  return { draft, inbox };
}

/** A draft holds no more than can be sent: texts and encoded files together. */
export function checkDraftSize(sizes: {
  readonly text: number;
  readonly html: number;
  readonly files: readonly number[];
}): void {
  const size = sizes.text + sizes.html + contentBytes({ text: '', html: null, fileSizes: sizes.files });
  if (size > MAX_MESSAGE_BYTES) throw tooLarge(size);
}

/** Deletes a draft for good, submitted or not; its sent copy stays (`deleteDraft`). */
export function deleteDraft(
  deps: { readonly store: Store; readonly clock: Clock },
  input: DraftTarget,
): Promise<Deleted> {
  return deps.store.write(writer => {
    const located = locateDraft(writer, input);
    checkPermitted(writer, input, 'delete');
    const { draft } = located;
    eraseDraft(writer, draft, deps.clock());
    return {
      id: draft.id,
      status: 'deletion_pending' as const,
      message: 'The draft is gone; its stored bytes are being removed.',
    };
  }, 'settle');
}

/** Takes a draft and all that belongs to it out of the store; its bytes are left to the sweeper. */
export function eraseDraft(writer: Writer, draft: DraftRecord, nowMs: number): void {
  for (const blob of blobsOfDraft(draft)) releaseBlob(writer, blob, nowMs);
  removeDraft(writer, draft);
}
