import { refuse } from '../../domain/errors.js';
import type { AccountId } from '../../domain/ids.js';
import { normaliseLabel } from '../../domain/labels.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import { scanLabels } from '../../store/mailbox/postings.js';
import { ownedInbox } from '../shared/callers.js';

/** Wire contract, `LabelList`. */
export interface LabelList {
  readonly labels: readonly {
    readonly name: string;
    readonly received_count: number;
    readonly sent_count: number;
  }[];
  readonly next_cursor: string | null;
}

export interface ListLabelsInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  /** Literal and case-sensitive; blank for all. */
  readonly prefix: string;
  readonly limit: number;
  readonly cursor: string | null;
}

/** The labels in use on live messages of an inbox, in binary order, with counts (specification, Inboxes). */
export function listLabels(deps: { store: Store; cursors: CursorCodec }, input: ListLabelsInput): LabelList {
  const prefix = normalisePrefix(input.prefix);
  return deps.store.read(reader => {
    const owned = ownedInbox(reader, input.accountId, input.inboxId);
    const scope = `labels ${owned.id} ${prefix}`;
    const after = input.cursor === null ? null : deps.cursors.decodeText(scope, input.cursor);
    if (after === null && input.cursor !== null) {
      throw refuse(
        'invalid_cursor',
        'The cursor does not belong to this list with this prefix: start again without one.',
      );
    }
    const found = scanLabels(reader, owned.id, prefix, after, input.limit + 1);
    const page = found.slice(0, input.limit);
    const last = page.at(-1);
    return {
      labels: page.map(({ label, count }) => ({
        name: label,
        received_count: count.received,
        sent_count: count.sent,
      })),
      next_cursor:
        found.length > input.limit && last !== undefined ? deps.cursors.encodeText(scope, last.label) : null,
    };
  });
}

function normalisePrefix(text: string): string {
  return text.trim() === '' ? '' : normaliseLabel(text);
}
