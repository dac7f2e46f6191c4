import type { FileInput } from '../../contract/sending.js';
import { checkRecipientCount, type Recipients } from '../../domain/message-parts.js';
import { deriveReply } from '../../domain/reply.js';
import type { DraftChange, DraftSource } from '../../domain/send-input.js';
import type { Store } from '../../store/engine/store.js';
import { addressOf, type InboxRecord } from '../../store/records/inboxes.js';
import { type GivenFilesDeps, locateFiles, readFilesToStore, sizesOf } from '../shared/given-files.js';
import type { Hand } from '../shared/in-hand.js';
import { answerable, findSource, readForward } from '../shared/sources.js';
import type { FileToStore } from '../shared/uploads.js';
import { checkDraftSize } from './read-draft.js';

/** What a new draft holds. */
export interface NewDraft extends Recipients {
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly FileToStore[];
  readonly inReplyTo: string | null;
  readonly labels: readonly string[];
}

/**
 * Checks what only a whole draft shows: how many recipients and how many bytes it has.
 * @throws `invalid_message` or `message_too_large`
 */
export function checkContent({ to, cc, bcc, text, html }: NewDraft, fileSizes: readonly number[]): void {
  checkRecipientCount(to, cc, bcc);
  checkDraftSize({
    text: Buffer.byteLength(text),
    html: Buffer.byteLength(html ?? ''),
    files: fileSizes,
  });
}

const EMPTY: NewDraft = {
  to: [],
  cc: [],
  bcc: [],
  subject: '',
  text: '',
  html: null,
  files: [],
  inReplyTo: null,
  labels: [],
};

/**
 * The first content of a draft: what its source gives, overridden by every field of the request, empty ones included.
 * In a forward, the request's text is the note above the forwarded message.
 */
export async function deriveDraft(
  deps: GivenFilesDeps,
  inbox: InboxRecord,
  { change, source }: { readonly change: DraftChange; readonly source: DraftSource | null },
  hand: Hand | null,
): Promise<NewDraft> {
  const { store } = deps;
  const { files, ...given } = change;
  if (source?.action === 'forward') {
    const forward = await deriveForwardDraft(store, inbox, source, change.text ?? '', hand);
    const { text: _note, ...rest } = given;
    return { ...EMPTY, ...forward, ...rest };
  }
  const reply = source === null ? {} : await deriveReplyDraft(store, inbox, source, change);
  const draft: NewDraft = { ...EMPTY, ...reply, ...given };
  return files === undefined
    ? draft
    : { ...draft, files: await readFilesOf(deps, inbox, draft, files, hand) };
}

/** The files that are given with a draft; they are not read where they make it too large. */
async function readFilesOf(
  deps: GivenFilesDeps,
  { accountId }: InboxRecord,
  draft: NewDraft,
  files: readonly FileInput[],
  hand: Hand | null,
): Promise<readonly FileToStore[]> {
  const located = deps.store.read(reader => locateFiles(reader, deps.clock, accountId, files));
  checkContent(draft, sizesOf(located));
  return readFilesToStore(deps, located, hand);
}

async function deriveForwardDraft(
  store: Store,
  inbox: InboxRecord,
  { messageId, includeAttachments = true }: DraftSource,
  note: string,
  hand: Hand | null,
): Promise<Partial<NewDraft>> {
  const found = await findSource(store, inbox.id, messageId);
  return readForward(store, found, { note, includeAttachments }, hand);
}

async function deriveReplyDraft(
  store: Store,
  inbox: InboxRecord,
  { messageId, action }: DraftSource,
  change: DraftChange,
): Promise<Partial<NewDraft>> {
  const found = await findSource(store, inbox.id, messageId);
  const scope = action === 'reply-all' ? 'reply-all' : 'reply';
  const derived = deriveReply(scope, answerable(found), addressOf(inbox), change);
  return { ...derived, inReplyTo: messageId };
}
