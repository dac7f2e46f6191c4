import { fail, ok, type Result } from '../domain/errors.js';
import { KEY_LIFETIME_MS } from '../domain/idempotency.js';
import { type AccountId, type DraftId, newId } from '../domain/ids.js';
import { toInstant } from '../domain/instants.js';
import {
  type DraftChange,
  type DraftInput,
  type DraftSource,
  normaliseDraft,
  normaliseKey,
  normaliseSource,
} from '../domain/normalise-draft.js';
import { checkRecipientCount } from '../domain/normalise-recipients.js';
import { draftIntent } from '../domain/send-intent.js';
import type { BlobUploads } from '../store/blob-upload.js';
import { type DraftRecord, getDraft, putDraft } from '../store/drafts.js';
import { findActiveKey, putKey } from '../store/idempotency.js';
import type { InboxRecord } from '../store/inboxes.js';
import { isMapFull } from '../store/map-full.js';
import { addPending } from '../store/pending.js';
import type { Reader, Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { deriveDraft, type NewDraft } from './derive-draft.js';
import { bytesOfParts, DraftUploads } from './draft-uploads.js';
import { type DraftMetadata, viewDraft } from './draft-view.js';
import { ownedInbox } from './owned.js';
import { checkDraftSize } from './owned-draft.js';
import type { Clock } from './ports.js';
import { type RetryKey, retryKey } from './retry-key.js';

export interface DraftDeps {
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
}

export interface CreateDraftInput extends DraftInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  readonly source?: DraftSource | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** `replayed` and `idempotency_expires_at` are there exactly when the request had a key. */
export type CreatedDraft = DraftMetadata & {
  readonly replayed?: boolean;
  readonly idempotency_expires_at?: string;
};

/** A checked creation. */
interface Creation {
  readonly accountId: AccountId;
  readonly inboxId: string;
  readonly change: DraftChange;
  readonly source: DraftSource | null;
  readonly retry: RetryKey | null;
}

/**
 * Saves a draft (wire contract 3.17), from nothing or from a message that it answers or forwards. With a key,
 * matching requests come to one draft; the source is looked at for a new one only.
 */
export async function createDraft(deps: DraftDeps, input: CreateDraftInput): Promise<Result<CreatedDraft>> {
  const creation = normalise(input);
  if (!creation.ok) return creation;
  const begun = deps.store.read(reader => begin(reader, deps, creation.value));
  if (!begun.ok) return begun;
  if (begun.value.kind === 'replay') return ok(begun.value.created);
  const { change, source } = creation.value;
  const content = await deriveDraft(deps.store, begun.value.inbox, change, source);
  const created = content.ok ? await saveNew(deps, creation.value, content.value) : content;
  if (created.ok) return created;
  // Another request with the key may have made it meanwhile, and a replay comes before all that.
  const again = deps.store.read(reader => begin(reader, deps, creation.value));
  if (!again.ok) return again;
  return again.value.kind === 'replay' ? ok(again.value.created) : created;
}

function normalise(input: CreateDraftInput): Result<Creation> {
  const change = normaliseDraft(input);
  if (!change.ok) return change;
  const source = input.source === undefined ? ok(null) : normaliseSource(input.source, change.value);
  if (!source.ok) return source;
  const key = normaliseKey(input.idempotencyKey);
  if (!key.ok) return key;
  const { accountId, inboxId } = input;
  return ok({
    accountId,
    inboxId,
    change: change.value,
    source: source.value,
    retry: retryKey(accountId, 'draft', key.value, () => draftIntent(inboxId, change.value, source.value)),
  });
}

type Begun =
  | { readonly kind: 'replay'; readonly created: CreatedDraft }
  | { readonly kind: 'new'; readonly inbox: InboxRecord };

function begin(reader: Reader, deps: Pick<DraftDeps, 'clock'>, creation: Creation): Result<Begun> {
  const inbox = ownedInbox(reader, creation.accountId, creation.inboxId);
  if (!inbox.ok) return inbox;
  const created = replay(reader, creation.retry, deps.clock());
  if (created === null) return ok({ kind: 'new', inbox: inbox.value });
  return created.ok ? ok({ kind: 'replay', created: created.value }) : created;
}

/** What a retry under a used key gets; null when it is no retry. */
function replay(reader: Reader, retry: RetryKey | null, nowMs: number): Result<CreatedDraft> | null {
  if (retry === null) return null;
  const used = findActiveKey(reader, retry.key, nowMs);
  if (used === undefined) return null;
  if (used.intent !== retry.intent) {
    return fail(
      'idempotency_conflict',
      'This key was first used with different input. Use a new key for a new draft.',
    );
  }
  const draft = getDraft(reader, used.resultId as DraftId);
  if (draft === undefined) {
    return fail('idempotency_result_unavailable', 'The draft that this key created has been deleted since.');
  }
  return ok({ ...viewDraft(draft), replayed: true, idempotency_expires_at: toInstant(used.expiresAt) });
}

async function saveNew(
  deps: DraftDeps,
  creation: Creation,
  content: NewDraft,
): Promise<Result<CreatedDraft>> {
  const allowed = checkContent(content);
  if (!allowed.ok) return allowed;
  if (!deps.store.room.hasRoomFor(bytesOfParts(content))) return NO_ROOM;
  const uploads = new DraftUploads(deps.uploads);
  let isStored = false;
  try {
    await uploads.add(content);
    const created = await deps.store.write((writer): Result<CreatedDraft> => {
      const begun = begin(writer, deps, creation);
      if (!begun.ok) return begun;
      if (begun.value.kind === 'replay') return ok(begun.value.created);
      isStored = true;
      return ok(insert(writer, creation, begun.value.inbox, content, uploads, deps.clock()));
    });
    return created;
  } catch (error) {
    isStored = false;
    if (isMapFull(error)) return NO_ROOM;
    throw error;
  } finally {
    if (!isStored) uploads.abort();
  }
}

export const NO_ROOM = fail(
  'draft_unavailable',
  'The service has no room for drafts at the moment; nothing was saved. Try again in a while.',
);

function checkContent(content: NewDraft): Result<true> {
  const excess = checkRecipientCount(content.to, content.cc, content.bcc);
  if (excess !== null) return excess;
  return checkDraftSize({
    text: Buffer.byteLength(content.text),
    html: Buffer.byteLength(content.html ?? ''),
    files: content.files.map(({ bytes }) => bytes.length),
  });
}

function insert(
  writer: Writer,
  { accountId, retry }: Creation,
  inbox: InboxRecord,
  content: NewDraft,
  uploads: DraftUploads,
  nowMs: number,
): CreatedDraft {
  const id = newId<DraftId>(nowMs);
  const { to, cc, bcc, subject, inReplyTo, labels } = content;
  const draft: DraftRecord = {
    id,
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
    text: null,
    html: null,
    files: [],
    inReplyTo,
    labels,
    sentMessageId: null,
    ...uploads.finish(writer, id),
  };
  putDraft(writer, null, draft);
  if (retry === null) return viewDraft(draft);
  const { key, intent } = retry;
  const expiresAt = nowMs + KEY_LIFETIME_MS;
  putKey(writer, key, { intent, resultId: id, expiresAt });
  addPending(writer, expiresAt, { kind: 'expire-key', id, key });
  return { ...viewDraft(draft), replayed: false, idempotency_expires_at: toInstant(expiresAt) };
}
