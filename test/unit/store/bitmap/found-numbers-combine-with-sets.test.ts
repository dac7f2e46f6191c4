import fc from 'fast-check';
import t from 'tap';
import type { InboxId } from '../../../../src/domain/ids.js';
import { NumberSet } from '../../../../src/store/bitmap/number-set.js';
import { countChange } from '../../../../src/store/mailbox/folders.js';
import { addPosting, type Term } from '../../../../src/store/mailbox/postings.js';
import { countSelected, maskOf, selectMessages } from '../../../../src/store/mailbox/select-messages.js';
import { withStore } from '../with-store.js';

const folder = { inboxId: '01890000-0000-7000-8000-000000000001' as InboxId, kind: 'received' } as const;
const label: Term = { type: 'label', label: 'a' };
const gone: Term = { type: 'gone' };
/** Over three blocks. */
const seqs = fc.uniqueArray(fc.integer({ min: 1, max: 150_000 }), { maxLength: 60 });

t.test('what is found elsewhere is one more set', async t => {
  const store = await withStore(t);
  const [labelled, dead] = [new Set<number>(), new Set<number>()];
  await fc.assert(
    fc.asyncProperty(seqs, seqs, seqs, fc.boolean(), async (found, more, leaving, isLabelled) => {
      await store.write(writer => {
        countChange(writer, folder, 0);
        for (const seq of [...more, ...found.slice(0, 20)]) {
          if (addPosting(writer, folder, label, seq)) labelled.add(seq);
        }
        for (const seq of leaving) if (addPosting(writer, folder, gone, seq)) dead.add(seq);
      });
      const within = new NumberSet(found);
      within.addAll(new NumberSet(more));
      const [from, to] = [10, 140_000];
      const selection = { all: isLabelled ? [label] : [], any: [], none: [], from, to, within };
      const expected = [...new Set([...found, ...more])]
        .filter(seq => seq >= from && seq < to && (isLabelled ? labelled.has(seq) : !dead.has(seq)))
        .sort((a, b) => a - b);
      for (const seq of [...found, ...more]) if (!within.has(seq)) throw new Error(`${seq} is missing`);
      const page = { isDescending: false, limit: 1_000 };
      const select = () => store.read(reader => selectMessages(reader, folder, selection, page).seqs);
      const got = {
        // Twice: the second walk finds blocks that are kept.
        lists: [select(), select()],
        count: store.read(reader => countSelected(reader, folder, selection).count),
        mask: store.read(reader => {
          const mask = maskOf(reader, folder, selection);
          return [...new Set([...found, ...more])].filter(seq => mask.has(seq)).length;
        }),
      };
      const wanted = { lists: [expected, expected], count: expected.length, mask: expected.length };
      if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error('they differ');
    }),
    { numRuns: 60 },
  );
  t.pass();
});
