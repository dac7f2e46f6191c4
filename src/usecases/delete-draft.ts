import { ok, type Result } from '../domain/errors.js';
import { releaseBlob } from '../store/blobs.js';
import { blobsOfDraft, type DraftRecord, removeDraft } from '../store/drafts.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import type { Deleted } from './delete-message.js';
import { type DraftTarget, ownedDraft } from './owned-draft.js';
import { isPermitted } from './permissions.js';
import type { Clock } from './ports.js';

/** Deletes a draft for good, submitted or not; its sent copy stays (wire contract 3.18). */
export function deleteDraft(
  deps: { readonly store: Store; readonly clock: Clock },
  input: DraftTarget,
): Promise<Result<Deleted>> {
  return deps.store.write(writer => {
    const owned = ownedDraft(writer, input);
    if (!owned.ok) return owned;
    const permitted = isPermitted(writer, input.accountId, 'delete');
    if (!permitted.ok) return permitted;
    const { draft } = owned.value;
    eraseDraft(writer, draft, deps.clock());
    return ok({
      id: draft.id,
      status: 'deletion_pending' as const,
      message: 'The draft is gone; its stored bytes are being removed.',
    });
  });
}

/** Takes a draft and all that belongs to it out of the store; its bytes are left to the sweeper. */
export function eraseDraft(writer: Writer, draft: DraftRecord, nowMs: number): void {
  for (const blob of blobsOfDraft(draft)) releaseBlob(writer, blob, nowMs);
  removeDraft(writer, draft);
}
