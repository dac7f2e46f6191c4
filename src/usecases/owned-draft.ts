import { notFound, ok, type Result } from '../domain/errors.js';
import { type AccountId, type DraftId, toId } from '../domain/ids.js';
import { contentBytes, MAX_MESSAGE_BYTES } from '../domain/normalise-submission.js';
import { type DraftRecord, getDraft } from '../store/drafts.js';
import { getInbox, type InboxRecord } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';
import { tooLarge } from './outgoing-content.js';

/** What an agent asks for with a draft's id. */
export interface DraftTarget {
  readonly accountId: AccountId;
  /** Text from outside. */
  readonly draftId: string;
}

export interface OwnedDraft {
  readonly draft: DraftRecord;
  readonly inbox: InboxRecord;
}

/** A draft of the caller; its inbox decides the owner, so that drafts of a deleted inbox are gone at once. */
export function ownedDraft(reader: Reader, { accountId, draftId }: DraftTarget): Result<OwnedDraft> {
  const id = toId<DraftId>(draftId);
  const draft = id === null ? undefined : getDraft(reader, id);
  const inbox = draft === undefined ? undefined : getInbox(reader, draft.inboxId);
  return draft === undefined || inbox?.accountId !== accountId ? notFound('draft') : ok({ draft, inbox });
}

/** A draft holds no more than can be sent: texts and encoded files together. */
export function checkDraftSize(sizes: {
  readonly text: number;
  readonly html: number;
  readonly files: readonly number[];
}): Result<true> {
  const size = sizes.text + sizes.html + contentBytes({ text: '', html: null, fileSizes: sizes.files });
  return size <= MAX_MESSAGE_BYTES ? ok<true>(true) : tooLarge(size);
}
