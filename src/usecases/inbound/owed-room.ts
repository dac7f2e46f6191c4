import { nextTurn } from '../../lib/slices.js';
import type { Store } from '../../store/engine/store.js';
import { bytesOwedTo, getMessage } from '../../store/mailbox/messages.js';
import { pendingPages } from '../../store/records/pending.js';

/**
 * Sets right what this process keeps free for the parsing of mail that waits: others take mail in, parse and delete it,
 * too. What comes while it is counted may be counted twice, until the next time.
 * @param shouldStop asked every few milliseconds: then nothing is changed
 */
export async function countOwed(store: Store, shouldStop = (): boolean => false): Promise<void> {
  const { room } = store;
  const before = room.owedBytes;
  let bytes = 0;
  for (const page of pendingPages(store, 'parse')) {
    bytes += store.read(reader =>
      page.reduce((sum, { work }) => sum + bytesOwedTo(getMessage(reader, work.id) ?? null), 0),
    );
    await nextTurn();
    if (shouldStop()) return;
  }
  const added = Math.max(0, room.owedBytes - before);
  room.owe(bytes + added - room.owedBytes);
}
