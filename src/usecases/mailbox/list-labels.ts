import type { LabelList } from '../../contract/labels.js';
import type { AccountId } from '../../domain/ids.js';
import { normaliseLabel } from '../../domain/labels.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import { scanLabels } from '../../store/mailbox/postings.js';
import { locateInbox } from '../shared/callers.js';
import { page, textCursors } from '../shared/pages.js';

export interface ListLabelsInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  /** Literal and case-sensitive; blank for all. */
  readonly prefix: string;
  readonly limit: number;
  readonly cursor: string | null;
}

/** The labels in use on live messages of an inbox, in binary order, with counts (`listLabels`). */
export function listLabels(deps: { store: Store; cursors: CursorCodec }, input: ListLabelsInput): LabelList {
  const prefix = normalisePrefix(input.prefix);
  return deps.store.read(reader => {
    const inbox = locateInbox(reader, input, input.inboxId);
    const { items, next_cursor } = page(
      textCursors(deps.cursors, `labels ${inbox.id} ${prefix}`),
      input,
      (after, limit) => scanLabels(reader, inbox.id, prefix, after, limit),
      ({ label }) => label,
    );
    const labels = items.map(({ label, count }) => ({
      name: label,
      received_count: count.received,
      sent_count: count.sent,
    }));
    return { labels, next_cursor };
  });
}

function normalisePrefix(text: string): string {
  return text.trim() === '' ? '' : normaliseLabel(text);
}
