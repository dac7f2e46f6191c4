import type { CursorCodec } from '../domain/cursor.js';
import { fail, ok, type Result } from '../domain/errors.js';
import { type AccountId, type DraftId, toId } from '../domain/ids.js';
import { getChunk } from '../store/blobs.js';
import {
  type DraftList,
  type DraftRecord,
  type DraftText,
  draftTextsTable,
  getDraft,
  scanDrafts,
} from '../store/drafts.js';
import type { InboxRecord } from '../store/inboxes.js';
import type { Store } from '../store/store.js';
import type { ByteStream } from './byte-stream.js';
import { type DraftMetadata, viewDraft } from './draft-view.js';
import { fillInFiles } from './files-as-json.js';
import { senderOf } from './inbox-view.js';
import { ownedInbox } from './owned.js';
import { type DraftTarget, ownedDraft } from './owned-draft.js';
import { readWholeBlob } from './read-whole-blob.js';

const MISSING = fail('content_unavailable', 'The stored content cannot be read right now. Retry later.');

/** A draft with its content as JSON bytes (wire contract, `DraftDetail`); files are streamed as base64. */
export async function getDraftDetail(
  { store }: { readonly store: Store },
  input: DraftTarget,
): Promise<Result<ByteStream>> {
  let owned = store.read(reader => ownedDraft(reader, input));
  for (;;) {
    if (!owned.ok) return owned;
    const { draft, inbox } = owned.value;
    const detail = await viewDetail(store, draft, inbox);
    owned = store.read(reader => ownedDraft(reader, input));
    // An edit that came meanwhile: what was read may be of two versions.
    if (owned.ok && owned.value.draft.version === draft.version) return detail;
  }
}

async function viewDetail(store: Store, draft: DraftRecord, inbox: InboxRecord): Promise<Result<ByteStream>> {
  const texts = await readDraftTexts(store, draft);
  const hasFiles = store.read(reader =>
    draft.files.every(({ blob }) => getChunk(reader, blob.id, 0) !== undefined),
  );
  if (texts === null || !hasFiles) return MISSING;
  const { to, cc, bcc, subject, inReplyTo, labels } = draft;
  const content = {
    to,
    cc,
    bcc,
    subject,
    text: texts.text,
    attachments: [],
    ...(texts.html === null ? {} : { html: texts.html }),
    ...(inReplyTo === null ? {} : { in_reply_to: inReplyTo }),
    ...(labels.length === 0 ? {} : { labels }),
  };
  const json = JSON.stringify({ ...viewDraft(draft), from: senderOf(inbox), content });
  return ok(fillInFiles(json, draft.files, store));
}

/** The texts of a draft; null when they are missing. */
export async function readDraftTexts(
  store: Store,
  draft: DraftRecord,
): Promise<{ readonly text: string; readonly html: string | null } | null> {
  const text = await readText(store, draft, 'text');
  const html = await readText(store, draft, 'html');
  return text === undefined || html === undefined ? null : { text: text ?? '', html };
}

/** Null when the draft has none, undefined when it is missing. */
async function readText(
  store: Store,
  draft: DraftRecord,
  field: DraftText,
): Promise<string | null | undefined> {
  const place = draft[field];
  if (place === null) return null;
  const bytes =
    place.in === 'blob'
      ? await readWholeBlob(store, place.blob)
      : store.read(reader => reader.get(draftTextsTable, { id: draft.id, field }));
  return bytes?.toString('utf8');
}

export interface DraftPage {
  readonly drafts: readonly DraftMetadata[];
  readonly next_cursor: string | null;
}

/** The drafts of an inbox in a state, last created first (wire contract 3.18). */
export function listDrafts(
  deps: { readonly store: Store; readonly cursors: CursorCodec },
  input: {
    readonly accountId: AccountId;
    readonly inboxId: string;
    readonly list: DraftList;
    readonly limit: number;
    readonly cursor: string | null;
  },
): Result<DraftPage> {
  return deps.store.read(reader => {
    const owned = ownedInbox(reader, input.accountId, input.inboxId);
    if (!owned.ok) return owned;
    const scope = `drafts ${owned.value.id} ${input.list}`;
    const position = input.cursor === null ? null : deps.cursors.decodeText(scope, input.cursor);
    const before = position === null ? null : toId<DraftId>(position);
    if (before === null && input.cursor !== null) {
      return fail(
        'invalid_draft',
        'The cursor does not belong to this list of drafts in this state: start again without one.',
      );
    }
    const found = scanDrafts(reader, owned.value.id, input.list, before, input.limit + 1);
    const page = found.slice(0, input.limit);
    const last = page.at(-1);
    return ok({
      drafts: page.flatMap(id => {
        const draft = getDraft(reader, id);
        return draft === undefined ? [] : [viewDraft(draft)];
      }),
      next_cursor:
        found.length > input.limit && last !== undefined ? deps.cursors.encodeText(scope, last) : null,
    });
  });
}
