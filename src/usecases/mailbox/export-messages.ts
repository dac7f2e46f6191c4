import type { InboxId, MessageId } from '../../domain/ids.js';
import { MAX_U48 } from '../../store/engine/keys.js';
import type { Store } from '../../store/engine/store.js';
import { FIRST_SEQ, idField, scanSummaries } from '../../store/mailbox/folders.js';
import { getMessage, type ReceivedRecord } from '../../store/mailbox/messages.js';

const BATCH = 500;
/** After every number that a message can have. */

/** The live mail that an inbox has received, oldest first. What is deleted meanwhile is passed over. */
export async function* receivedOf(store: Store, inboxId: InboxId): AsyncGenerator<ReceivedRecord> {
  const folder = { inboxId, kind: 'received' } as const;
  for (let from = FIRST_SEQ; ; ) {
    const range = { from, to: MAX_U48, isDescending: false, limit: BATCH };
    const batch = store.read(reader =>
      scanSummaries(reader, folder, range).map(({ seq, summary }) => {
        const id = idField<MessageId>(summary, 'id');
        return { seq, record: id === null ? undefined : getMessage(reader, id) };
      }),
    );
    for (const { record } of batch) if (record !== undefined) yield record;
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH) return;
    from = last.seq + 1;
  }
}
