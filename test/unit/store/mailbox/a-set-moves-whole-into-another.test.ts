import fc from 'fast-check';
import t from 'tap';
import { type InboxId, newId, type ThreadId } from '../../../../src/domain/ids.js';
import { BLOCK_BITS } from '../../../../src/store/bitmap/bit-block.js';
import type { Reader } from '../../../../src/store/engine/tables.js';
import type { Folder } from '../../../../src/store/mailbox/folders.js';
import { addPosting, moveSet, type Term } from '../../../../src/store/mailbox/postings.js';
import { selectMessages } from '../../../../src/store/mailbox/select-messages.js';
import { withStore } from '../with-store.js';

const END = 4 * BLOCK_BITS;
const seqs = fc.uniqueArray(
  fc.record({ block: fc.nat(3), offset: fc.nat(40) }).map(({ block, offset }) => block * BLOCK_BITS + offset),
  { maxLength: 12 },
);

const thread = (): Term => ({ type: 'thread', root: newId<ThreadId>(1) });

function members(reader: Reader, folder: Folder, term: Term): readonly number[] {
  const selection = { all: [term], any: [], none: [], from: 0, to: END };
  return selectMessages(reader, folder, selection, { isDescending: false, limit: 99 }).seqs;
}

t.test('whatever blocks the members of two sets lie in, one has them all and the other none', async t => {
  const store = await withStore(t);
  await t.resolves(
    fc.assert(
      fc.asyncProperty(seqs, seqs, async (moved, kept) => {
        const folder: Folder = { inboxId: newId<InboxId>(1), kind: 'received' };
        const [from, to] = [thread(), thread()];
        await store.write(writer => {
          for (const seq of moved) addPosting(writer, folder, from, seq);
          for (const seq of kept) addPosting(writer, folder, to, seq);
        });
        await store.write(writer => moveSet(writer, folder, from, to));
        const all = [...new Set([...moved, ...kept])].sort((a, b) => a - b);
        return store.read(reader => {
          const [left, found] = [members(reader, folder, from), members(reader, folder, to)];
          return left.length === 0 && found.join() === all.join();
        });
      }),
    ),
  );
});
