import type { CreateDraft, CreatedDraft, DraftMetadata, UpdateDraft } from '../../contract/drafts.js';
import { notMuchBefore } from '../../domain/clock.js';
import { refuse } from '../../domain/errors.js';
import { checkIdempotencyKey } from '../../domain/idempotency.js';
import { type AccountId, type DraftId, newId } from '../../domain/ids.js';
import { checkRecipientCount } from '../../domain/message-parts.js';
import {
  type DraftChange,
  type DraftSource,
  lengthOfTexts,
  normaliseDraft,
  normaliseSource,
} from '../../domain/send-input.js';
import { draftIntent } from '../../domain/send-intent.js';
import { pauseIfLong } from '../../lib/slices.js';
import { NoRoomError } from '../../store/engine/room.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import type { BlobUploads } from '../../store/records/blob-upload.js';
import { releaseBlob } from '../../store/records/blobs.js';
import {
  blobsOfDraft,
  bytesOfDraft,
  type DraftRecord,
  getDraft,
  putDraft,
} from '../../store/records/drafts.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import type { Clock } from '../ports.js';
import { locateInbox } from '../shared/callers.js';
import { type LocatedFiles, locateFiles, readFilesToStore, sizesOf } from '../shared/given-files.js';
import type { Hand } from '../shared/in-hand.js';
import { findOrMake, type MadeOnce, once, type RetryKey, replay, retryKey } from '../shared/once.js';
import { checkStorage, type StorageLimits } from '../shared/storage.js';
import {
  addFiles,
  placeFiles,
  sizeOfFile,
  type UploadedBlobs,
  type Uploads,
  withUploads,
} from '../shared/uploads.js';
import { checkContent, deriveDraft, type NewDraft } from './derive-draft.js';
import { checkDraftSize, type DraftTarget, locateDraft, viewDraft } from './read-draft.js';

export interface DraftDeps {
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly quota: { readonly limits: StorageLimits };
}

/** Who creates a draft where; the inbox is text from outside. */
interface NewDraftInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  /** What the request has in memory; absent where one thing is done at a time. */
  readonly hand?: Hand | null;
}

/** A checked creation. */
interface Creation {
  readonly accountId: AccountId;
  readonly inboxId: string;
  readonly change: DraftChange;
  readonly source: DraftSource | null;
  readonly retry: RetryKey | null;
}

/**
 * Creates a draft (`createDraft`), empty or from a message that it answers or forwards. Requests that match under one
 * idempotency key create one draft; the source message is read only when a draft is created.
 */
export async function createDraft(
  deps: DraftDeps,
  input: CreateDraft & NewDraftInput,
): Promise<CreatedDraft> {
  const creation = await normalise(input);
  const { retry } = creation;
  const look = (): CreatedDraft | null =>
    deps.store.read(reader => {
      locateInbox(reader, creation, creation.inboxId);
      return replay(reader, retry, deps.clock, draftMade(reader));
    });
  return findOrMake(look, async () => {
    const inbox = deps.store.read(reader => locateInbox(reader, creation, creation.inboxId));
    const content = await deriveDraft(deps, inbox, creation, input.hand ?? null);
    return saveNew(deps, creation, content);
  });
}

async function normalise(input: CreateDraft & NewDraftInput): Promise<Creation> {
  const { attachments, ...rest } = input;
  // Of a new draft null says that none were given; an update with null removes them.
  const change = normaliseDraft(attachments === null ? rest : input);
  const source = input.source === undefined ? null : normaliseSource(input.source, change);
  const key = checkIdempotencyKey(input.idempotency_key);
  const { accountId, inboxId } = input;
  const length = lengthOfTexts(change);
  await pauseIfLong(length);
  const retry = retryKey(accountId, 'draft', key, () => draftIntent(inboxId, change, source));
  await pauseIfLong(length);
  return { accountId, inboxId, change, source, retry };
}

function draftMade(reader: Reader): MadeOnce<DraftMetadata> {
  return {
    what: 'draft',
    find: id => {
      const draft = getDraft(reader, id as DraftId);
      return draft === undefined ? null : viewDraft(draft);
    },
  };
}

async function saveNew(deps: DraftDeps, creation: Creation, content: NewDraft): Promise<CreatedDraft> {
  checkContent(content, content.files.map(sizeOfFile));
  const bytes = bytesOfParts(content);
  deps.store.read(reader => checkStorage(reader, deps.quota.limits, creation.accountId, bytes));
  return storing(deps, content, (writer, uploads) => {
    const inbox = locateInbox(writer, creation, creation.inboxId);
    return once(writer, creation.retry, deps.clock, {
      ...draftMade(writer),
      make: nowMs => {
        checkStorage(writer, deps.quota.limits, creation.accountId, bytes);
        const parts = placeParts(writer, creation.accountId, content, uploads.finish(writer));
        const draft = insert(writer, creation, inbox, { ...content, ...parts }, nowMs);
        return { id: draft.id, view: viewDraft(draft) };
      },
    });
  });
}

/** Parts of a draft to store. An absent part stays as it is; null removes it. */
type DraftParts = Partial<Pick<NewDraft, 'text' | 'html' | 'files'>>;

/** How many bytes they add to the store. */
function bytesOfParts({ text, html, files = [] }: DraftParts): number {
  const texts = Buffer.byteLength(text ?? '') + Buffer.byteLength(html ?? '');
  return files.reduce((sum, file) => sum + sizeOfFile(file), texts);
}

/** Uploads parts of a draft and runs the unit of work that is to make them reachable. */
async function storing<Result>(
  deps: DraftDeps,
  parts: DraftParts,
  unit: (writer: Writer, uploads: Uploads) => Result,
): Promise<Result> {
  if (!deps.store.room.hasRoomFor(bytesOfParts(parts))) throw new NoRoomError();
  return withUploads(deps.uploads, async uploads => {
    await addParts(uploads, parts);
    return await deps.store.write(writer => unit(writer, uploads));
  });
}

/** A draft without a text has none that is empty. */
async function addParts(uploads: Uploads, { text = '', html = null, files = [] }: DraftParts): Promise<void> {
  if (text !== '') await uploads.add('text', Buffer.from(text, 'utf8'));
  if (html !== null) await uploads.add('html', Buffer.from(html, 'utf8'));
  await addFiles(uploads, files);
}

type PlacedParts = Pick<DraftRecord, 'text' | 'html' | 'files'>;

/** What the record says of parts that `addParts` has uploaded; of others, that there are none. */
function placeParts(
  writer: Writer,
  accountId: AccountId,
  { files = [] }: DraftParts,
  blobs: UploadedBlobs,
): PlacedParts {
  return {
    text: blobs.get('text') ?? null,
    html: blobs.get('html') ?? null,
    files: placeFiles(writer, accountId, files, blobs),
  };
}

function insert(
  writer: Writer,
  { accountId }: Creation,
  inbox: InboxRecord,
  content: Omit<NewDraft, keyof PlacedParts> & PlacedParts,
  nowMs: number,
): DraftRecord {
  const { to, cc, bcc, subject, text, html, files, inReplyTo, labels } = content;
  const draft: DraftRecord = {
    id: newId<DraftId>(nowMs),
    inboxId: inbox.id,
    accountId,
    state: 'draft',
    createdAt: nowMs,
    updatedAt: nowMs,
    version: 1,
    to,
    cc,
    bcc,
    subject,
    text,
    html,
    files,
    inReplyTo,
    labels,
    sentMessageId: null,
  };
  putDraft(writer, null, draft);
  return draft;
}

/** Replaced blobs are kept this long, so that a client that is still reading the old version can finish. */
const REPLACED_FOR_MS = 60_000;

/**
 * Changes the given fields of a draft (`updateDraft`). The last write of a field wins. Concurrent changes of different
 * fields both survive, because each is one unit of work on the current draft.
 */
export async function updateDraft(
  deps: DraftDeps,
  input: DraftTarget & UpdateDraft & { readonly hand?: Hand | null },
): Promise<DraftMetadata> {
  const change = normaliseDraft(input);
  if (Object.keys(change).length === 0) {
    throw refuse('invalid_draft', 'Give at least one field to change.');
  }
  const files = deps.store.read(reader => {
    const draft = changeableDraft(reader, input);
    const located = change.files && locateFiles(reader, deps.clock, input.accountId, change.files);
    checkChange(draft, change, located);
    return located;
  });
  const parts = await partsOf(deps, change, files, input.hand ?? null);
  return storing(deps, parts, (writer, uploads) => {
    const draft = changeableDraft(writer, input);
    checkChange(draft, change, files);
    const placed = placeParts(writer, input.accountId, parts, uploads.finish(writer));
    const after = apply(writer, draft, change, placed, deps.clock());
    // A change that makes it smaller is let through, also where too much is stored.
    const isLarger = bytesOfDraft(after) > bytesOfDraft(draft);
    if (isLarger) checkStorage(writer, deps.quota.limits, draft.accountId, 0);
    return viewDraft(after);
  });
}

/** The draft, if it can be changed now; refuses otherwise. */
function changeableDraft(reader: Reader, input: DraftTarget): DraftRecord {
  const { draft } = locateDraft(reader, input);
  if (draft.state !== 'draft') {
    throw refuse('draft_submitted', 'The draft has been submitted and cannot be changed; make a new one.');
  }
  return draft;
}

async function partsOf(
  deps: DraftDeps,
  { text, html }: DraftChange,
  files: LocatedFiles | undefined,
  hand: Hand | null,
): Promise<DraftParts> {
  return {
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    ...(files === undefined ? {} : { files: await readFilesToStore(deps, files, hand) }),
  };
}

/** Parts that do not change count towards the limit too. */
function checkChange(draft: DraftRecord, change: DraftChange, files: LocatedFiles | undefined): void {
  const { to, cc, bcc } = { ...draft, ...change };
  checkRecipientCount(to, cc, bcc);
  checkDraftSize({
    text: change.text === undefined ? (draft.text?.size ?? 0) : Buffer.byteLength(change.text),
    html: change.html === undefined ? (draft.html?.size ?? 0) : Buffer.byteLength(change.html ?? ''),
    files: files === undefined ? draft.files.map(({ blob }) => blob.size) : sizesOf(files),
  });
}

function apply(
  writer: Writer,
  draft: DraftRecord,
  { text, html, files, ...fields }: DraftChange,
  placed: PlacedParts,
  nowMs: number,
): DraftRecord {
  const after: DraftRecord = {
    ...draft,
    ...fields,
    text: text === undefined ? draft.text : placed.text,
    html: html === undefined ? draft.html : placed.html,
    files: files === undefined ? draft.files : placed.files,
    updatedAt: notMuchBefore(nowMs, draft.updatedAt),
    version: draft.version + 1,
  };
  const replaced = {
    text: text === undefined ? null : draft.text,
    html: html === undefined ? null : draft.html,
    files: files === undefined ? [] : draft.files,
  };
  const releaseAt = nowMs + REPLACED_FOR_MS;
  for (const blob of blobsOfDraft(replaced)) releaseBlob(writer, blob, releaseAt);
  putDraft(writer, draft, after);
  return after;
}
