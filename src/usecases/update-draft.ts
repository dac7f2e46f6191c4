import { fail, ok, type Result } from '../domain/errors.js';
import {
  type DraftChange,
  type DraftInput,
  normaliseDraft,
} from '../domain/normalise-draft.js';
import { checkRecipientCount } from '../domain/normalise-recipients.js';
import { releaseBlob } from '../store/blobs.js';
import { blobsOfDraft, type DraftRecord, draftTextsTable, putDraft } from '../store/drafts.js';
import { isMapFull } from '../store/map-full.js';
import type { Reader, Writer } from '../store/reader-writer.js';
import { type DraftDeps, NO_ROOM } from './create-draft.js';
import { bytesOfParts, type DraftParts, DraftUploads } from './draft-uploads.js';
import { type DraftMetadata, viewDraft } from './draft-view.js';
import { decodedFiles } from './outgoing-content.js';
import { checkDraftSize, type DraftTarget, ownedDraft } from './owned-draft.js';

/** Replaced bytes stay for so long, so that who reads the draft as it was finds them to the end. */
const REPLACED_FOR_MS = 60_000;

/**
 * Changes the fields of a draft that are given (wire contract 3.18): the last write of a field wins, and changes
 * of different fields at once both survive, because each is one unit of work over the draft as it is then.
 */
export async function updateDraft(
  deps: DraftDeps,
  input: DraftTarget & DraftInput,
): Promise<Result<DraftMetadata>> {
  const normal = normaliseDraft(input);
  if (!normal.ok) return normal;
  const change = normal.value;
  if (Object.keys(change).length === 0) {
    return fail('invalid_draft', 'Give at least one field to change.');
  }
  const early = deps.store.read(reader => changeableDraft(reader, input, change));
  if (!early.ok) return early;
  const parts = partsOf(change);
  const bytes = bytesOfParts(parts);
  if (bytes > 0 && !deps.store.room.hasRoomFor(bytes)) return NO_ROOM;
  const uploads = new DraftUploads(deps.uploads);
  let isStored = false;
  try {
    await uploads.add(parts);
    return await deps.store.write((writer): Result<DraftMetadata> => {
      const draft = changeableDraft(writer, input, change);
      if (!draft.ok) return draft;
      isStored = true;
      return ok(viewDraft(apply(writer, draft.value, change, uploads, deps.clock())));
    });
  } catch (error) {
    isStored = false;
    if (isMapFull(error)) return NO_ROOM;
    throw error;
  } finally {
    if (!isStored) uploads.abort();
  }
}

/** The draft, if it takes this change as it is now. */
function changeableDraft(reader: Reader, input: DraftTarget, change: DraftChange): Result<DraftRecord> {
  const owned = ownedDraft(reader, input);
  if (!owned.ok) return owned;
  const { draft } = owned.value;
  if (draft.state !== 'draft') {
    return fail('draft_submitted', 'The draft has been submitted and cannot be changed; make a new one.');
  }
  const allowed = checkChange(draft, change);
  return allowed.ok ? ok(draft) : allowed;
}

function partsOf({ text, html, files }: DraftChange): DraftParts {
  return {
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    ...(files === undefined ? {} : { files: decodedFiles(files) }),
  };
}

/** What is not changed counts too. */
function checkChange(draft: DraftRecord, change: DraftChange): Result<true> {
  const { to, cc, bcc } = { ...draft, ...change };
  const excess = checkRecipientCount(to, cc, bcc);
  if (excess !== null) return excess;
  return checkDraftSize({
    text: change.text === undefined ? (draft.text?.size ?? 0) : Buffer.byteLength(change.text),
    html: change.html === undefined ? (draft.html?.size ?? 0) : Buffer.byteLength(change.html ?? ''),
    files:
      change.files === undefined
        ? draft.files.map(({ blob }) => blob.size)
        : change.files.map(({ content }) => Buffer.byteLength(content, 'base64')),
  });
}

function apply(
  writer: Writer,
  draft: DraftRecord,
  change: DraftChange,
  uploads: DraftUploads,
  nowMs: number,
): DraftRecord {
  const { text: _text, html: _html, files: _files, ...fields } = change;
  const placed = uploads.finish(writer, draft.id);
  const after: DraftRecord = {
    ...draft,
    ...fields,
    ...placed,
    updatedAt: Math.max(nowMs, draft.updatedAt),
    version: draft.version + 1,
  };
  for (const field of ['text', 'html'] as const) {
    if (draft[field]?.in === 'record' && after[field]?.in !== 'record') {
      writer.remove(draftTextsTable, { id: draft.id, field });
    }
  }
  const kept = new Set(blobsOfDraft(after));
  const releaseAt = nowMs + REPLACED_FOR_MS;
  for (const blob of blobsOfDraft(draft)) if (!kept.has(blob)) releaseBlob(writer, blob, releaseAt);
  putDraft(writer, draft, after);
  return after;
}
