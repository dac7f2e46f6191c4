import fc from 'fast-check';
import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { NO_FILTER, normaliseFilter } from '../../../../src/domain/message-filter.js';
import {
  changeLabels,
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { listLabels } from '../../../../src/usecases/mailbox/list-labels.js';
import { listMessages, type MessagePage } from '../../../../src/usecases/mailbox/list-messages.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { ALL_MAIL, withHouse } from '../with-house.js';
import { index, parsed } from '../with-parser.js';

const idOf = (summary: Buffer) => (JSON.parse(summary.toString()) as { id: MessageId }).id;

/** What happens between two pages, to messages that come and go; the others stay as they are. */
const disturbance = fc.record({
  kind: fc.constantFrom('deliver', 'delete', 'trash', 'unlabel', 'label', 'restore'),
  pick: fc.nat(100),
});
const disturbances = fc.array(disturbance, { maxLength: 4 });

t.test('what stays is neither skipped nor repeated while others come and go between pages', async t => {
  const house = await withHouse(t, { inboxLimit: 1_000 });
  let made = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('newest' as const, 'oldest' as const),
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      fc.array(disturbances, { minLength: 5, maxLength: 12 }),
      async (order, isFiltered, limit, between) => {
        const inboxId = await house.addInbox(`live${made++}`);
        const input = { accountId: house.account, inboxId, kind: 'received', order, limit } as const;
        const filter = isFiltered ? normaliseFilter({ all: ['x'], any: [], none: ['y'] }, {}) : NO_FILTER;
        const asOwner = (messageId: MessageId) => ({ accountId: house.account, messageId });
        const relabel = (id: MessageId, addLabels: string[], removeLabels: string[]) =>
          changeLabels(house, {
            ...asOwner(id),
            add_labels: addLabels,
            remove_labels: removeLabels,
            kind: 'received',
          });
        const add = async () => {
          const id = await house.receive('raw', inboxId);
          await relabel(id, ['x'], []);
          return id;
        };
        const stay: MessageId[] = [];
        const others: MessageId[] = [];
        for (let n = 0; n < 16; n++) (n % 2 === 0 ? stay : others).push(await add());
        const change = (kind: string, id: MessageId): Promise<object> => {
          if (kind === 'delete') return deleteMessage(house, { ...asOwner(id), kind: 'received' });
          if (kind === 'trash') return trashMessage(house, { ...asOwner(id), kind: 'received' });
          if (kind === 'restore') return restoreMessage(house, { ...asOwner(id), kind: 'received' });
          return kind === 'label' ? relabel(id, ['y'], []) : relabel(id, [], ['x', 'y']);
        };
        const disturb = async ({ kind, pick }: { kind: string; pick: number }) => {
          const id = others[pick % others.length]!;
          if (kind === 'deliver') others.push(await add());
          // It may be gone already, or in Trash.
          else await outcomeOf(() => change(kind, id));
        };
        const seen: MessageId[] = [];
        let cursor: string | null = null;
        for (let page = 0; ; page++) {
          const read: MessagePage = listMessages(house, { ...input, filter, cursor });
          seen.push(...read.summaries.map(idOf));
          cursor = read.nextCursor;
          if (cursor === null) break;
          for (const one of between[page] ?? []) await disturb(one);
        }
        const expected = order === 'newest' ? stay.toReversed() : stay;
        if (new Set(seen).size !== seen.length) throw new Error('one was repeated');
        const kept = seen.filter(id => stay.includes(id));
        if (kept.join() !== expected.join()) throw new Error('one that stayed was skipped');
      },
    ),
    { numRuns: 25, seed: 20_260_115 },
  );
});

t.test('so it is with the labels in use', async t => {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const id = await house.receive('raw', inboxId);
  const relabel = async (addLabels: string[], removeLabels: string[] = []) =>
    await changeLabels(house, {
      accountId: house.account,
      messageId: id,
      add_labels: addLabels,
      remove_labels: removeLabels,
      kind: 'received',
    });
  await relabel(['b', 'd', 'f', 'h']);
  const input = { accountId: house.account, inboxId, prefix: '', limit: 2 };
  const first = listLabels(house, { ...input, cursor: null });
  t.strictSame(
    first.labels.map(({ name }) => name),
    ['b', 'd'],
  );
  await relabel(['a', 'c', 'e'], ['d', 'b']);
  const second = listLabels(house, { ...input, cursor: first.next_cursor });
  t.strictSame(
    second.labels.map(({ name }) => name),
    ['e', 'f'],
    'it goes on behind a label that is gone',
  );
  const third = listLabels(house, { ...input, cursor: second.next_cursor });
  t.strictSame(third, { labels: [{ name: 'h', received_count: 1, sent_count: 0 }], next_cursor: null });
});

t.test('a search for a rare subject comes in short pages, and misses nothing', async t => {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  await Promise.all(Array.from({ length: 4_500 }, (_, n) => house.accept(`m${n}`, inboxId)));
  const rare = [house.offered[10]!, house.offered[2_200]!, house.offered[4_400]!];
  for (const id of rare) await index(house, id, parsed({}, { subject: 'A needle' }));
  const filter = normaliseFilter(NO_FILTER.labels, { subject: 'NEEDLE' });
  for (const order of ['newest', 'oldest'] as const) {
    const pages: MessageId[][] = [];
    let cursor: string | null = null;
    do {
      const input = { ...ALL_MAIL, accountId: house.account, inboxId, filter, order, limit: 20, cursor };
      const page: MessagePage = listMessages(house, input);
      pages.push(page.summaries.map(idOf));
      cursor = page.nextCursor;
    } while (cursor !== null);
    t.strictSame(pages.flat().sort(), rare.toSorted(), order);
    t.ok(pages.length > 1 && pages.length < 10, `${pages.length} pages, each a bounded look`);
  }
});
