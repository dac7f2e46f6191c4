import fc from 'fast-check';
import t from 'tap';
import { type BlobId, type InboxId, type MessageId, newId } from '../../../../src/domain/ids.js';
import {
  addPending,
  listDue,
  oldestDueAge,
  type PendingWork,
  removePending,
} from '../../../../src/store/records/pending.js';
import { withStore } from '../with-store.js';

const work = (kind: 'parse' | 'purge-blob' | 'purge-inbox'): PendingWork => {
  if (kind === 'parse') return { kind, id: newId<MessageId>(Date.now()) };
  if (kind === 'purge-blob') return { kind, id: newId<BlobId>(Date.now()) };
  return { kind, id: newId<InboxId>(Date.now()) };
};

t.test('by kind, oldest first, nothing of the future, page by page', async t => {
  const store = await withStore(t);
  const entry = fc.record({
    kind: fc.constantFrom('parse' as const, 'purge-blob' as const, 'purge-inbox' as const),
    dueAt: fc.integer({ min: 0, max: 20 }),
  });
  await t.resolves(
    fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 30 }),
        fc.nat(21),
        fc.integer({ min: 1, max: 7 }),
        async (entries, nowMs, pageSize) => {
          const added = entries.map(({ kind, dueAt }) => ({ dueAt, work: work(kind) }));
          await store.write(writer => {
            for (const one of added) addPending(writer, one.dueAt, one.work);
          });
          const found: string[] = [];
          let after: Buffer | undefined;
          for (;;) {
            const page = store.read(reader => listDue(reader, 'parse', nowMs, pageSize, after));
            found.push(...page.map(due => `${due.dueAt} ${due.work.id}`));
            after = page.at(-1)?.position;
            if (page.length < pageSize) break;
          }
          const age = store.read(reader => oldestDueAge(reader, 'parse', nowMs));
          await store.write(writer => {
            for (const one of added)
              removePending(writer, { kind: one.work.kind, dueAt: one.dueAt, id: one.work.id });
          });
          const due = added.filter(one => one.work.kind === 'parse' && one.dueAt <= nowMs);
          due.sort((a, b) => a.dueAt - b.dueAt || (a.work.id < b.work.id ? -1 : 1));
          const expected = due.map(one => `${one.dueAt} ${one.work.id}`);
          return (
            JSON.stringify(found) === JSON.stringify(expected) &&
            age === (due[0] === undefined ? null : nowMs - due[0].dueAt)
          );
        },
      ),
      { numRuns: 60 },
    ),
  );
});
