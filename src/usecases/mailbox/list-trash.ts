import type { TrashEntry, TrashPage } from '../../contract/trash.js';
import type { AccountId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { scanTrash, type TrashedMessage } from '../../store/mailbox/index.js';
import type { MessageRecord, ReceivedRecord, SentRecord } from '../../store/mailbox/messages.js';
import type { Clock } from '../ports.js';
import { locateInbox } from '../shared/callers.js';
import { fitting, numberCursors, page } from '../shared/pages.js';
import { getMessageOf } from './message-access.js';

/**
 * Messages of an inbox that can be restored, last trashed first (`listTrash`). Expired entries that the sweeper has not
 * reached yet are left out, so a page may be short, even empty, and still have a cursor.
 */
export function listTrash(
  deps: { store: Store; clock: Clock; cursors: CursorCodec },
  input: { accountId: AccountId; inboxId: string; limit: number; cursor: string | null },
): TrashPage {
  return deps.store.read(reader => {
    const inbox = locateInbox(reader, input, input.inboxId);
    const nowMs = deps.clock();
    const { items, next_cursor } = page(
      numberCursors(deps.cursors, `trash ${inbox.id}`),
      input,
      (before, limit) =>
        scanTrash(reader, inbox.id, before, limit).map(({ number, message }) => ({
          number,
          entry: viewRestorable(reader, message, nowMs),
        })),
      ({ number }) => number,
      found => fitting(found, ({ entry }) => (entry === null ? 0 : JSON.stringify(entry).length)),
    );
    return { messages: items.flatMap(({ entry }) => entry ?? []), next_cursor };
  });
}

/** Null for one that cannot be restored any more. */
function viewRestorable(reader: Reader, message: TrashedMessage, nowMs: number): TrashEntry | null {
  if (message.restorableUntil <= nowMs) return null;
  const record: MessageRecord | undefined = getMessageOf(reader, message.kind, message.id);
  return record === undefined ? null : viewEntry(record);
}

function viewEntry(record: ReceivedRecord | SentRecord): TrashEntry {
  const { id, inboxId: inbox_id, subject, trash } = record;
  const times = {
    deleted_at: toInstant(trash?.deletedAt ?? 0),
    restorable_until: toInstant(trash?.restorableUntil ?? 0),
  };
  return record.kind === 'received'
    ? {
        id,
        kind: 'received',
        inbox_id,
        subject,
        from: record.from,
        envelope_from: record.envelopeFrom,
        ...times,
      }
    : { id, kind: 'sent', inbox_id, subject, to: record.to, ...times };
}
