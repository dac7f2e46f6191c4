import { ok, type Result } from '../domain/errors.js';
import type { DraftChange, DraftSource } from '../domain/normalise-draft.js';
import { deriveReply } from '../domain/reply-derivation.js';
import type { Recipients } from '../domain/submission.js';
import { addressOf, type InboxRecord } from '../store/inboxes.js';
import type { Store } from '../store/store.js';
import { makeForward } from './forward-message.js';
import { findSource } from './message-source.js';
import { decodedFiles, type OutgoingFile } from './outgoing-content.js';
import { answerable } from './reply-message.js';

/** What a new draft holds. */
export interface NewDraft extends Recipients {
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly OutgoingFile[];
  readonly inReplyTo: string | null;
  readonly labels: readonly string[];
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
 * What a draft holds at first (wire contract 3.17): what its source gives, and over that every field that was
 * given, empty ones too. Of a forward the text that was given is the note within it.
 */
export async function deriveDraft(
  store: Store,
  inbox: InboxRecord,
  change: DraftChange,
  source: DraftSource | null,
): Promise<Result<NewDraft>> {
  const { files, ...given } = change;
  const explicit = files === undefined ? given : { ...given, files: decodedFiles(files) };
  if (source === null) return ok({ ...EMPTY, ...explicit });
  if (source.action === 'forward') {
    const forward = await deriveForwardDraft(store, inbox, source, change.text ?? '');
    const { text: _note, ...rest } = explicit;
    return forward.ok ? ok({ ...EMPTY, ...forward.value, ...rest }) : forward;
  }
  const reply = await deriveReplyDraft(store, inbox, source, change);
  return reply.ok ? ok({ ...EMPTY, ...reply.value, ...explicit }) : reply;
}

async function deriveForwardDraft(
  store: Store,
  inbox: InboxRecord,
  { messageId, includeAttachments = true }: DraftSource,
  note: string,
): Promise<Result<Partial<NewDraft>>> {
  const found = await findSource(store, inbox.id, messageId);
  return found.ok ? makeForward(store, found.value, { note, includeAttachments }) : found;
}

async function deriveReplyDraft(
  store: Store,
  inbox: InboxRecord,
  { messageId, action }: DraftSource,
  change: DraftChange,
): Promise<Result<Partial<NewDraft>>> {
  const found = await findSource(store, inbox.id, messageId);
  if (!found.ok) return found;
  const scope = action === 'reply-all' ? 'reply-all' : 'reply';
  const derived = deriveReply(scope, answerable(found.value), addressOf(inbox), change);
  return derived.ok ? ok({ ...derived.value, inReplyTo: messageId }) : derived;
}
