import { toInstant } from '../domain/instants.js';
import type { DraftRecord, DraftState } from '../store/drafts.js';

/** How a draft looks to an agent, without its content (wire contract, `DraftMetadata`). */
export interface DraftMetadata {
  readonly id: string;
  readonly inbox_id: string;
  readonly state: DraftState;
  /** Empty when there is none. */
  readonly subject: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly sent_message_id: string | null;
}

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
