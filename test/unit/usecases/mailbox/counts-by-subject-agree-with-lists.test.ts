import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { type MessageFilter, normaliseFilter } from '../../../../src/domain/message-filter.js';
import { countMessages } from '../../../../src/usecases/mailbox/count-messages.js';
import { type ListInput, listMessages } from '../../../../src/usecases/mailbox/list-messages.js';
import { threadsOf } from '../threads/with-threads.js';
import { withHouse } from '../with-house.js';
import { index, parsed } from '../with-parser.js';
import { putSent } from '../with-sent.js';

const SUBJECTS = ['Quarterly REPORT', 'report of the day', 'Lunch?'] as const;
/** More than one look takes, so that pages are short and counts go on in the next turn. */
const MANY = 1_250;

async function withMail(t: Parameters<typeof withHouse>[0]) {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const sent = await Promise.all(
    Array.from({ length: MANY }, (_, n) =>
      putSent(house.store, inboxId, house.now.ms, {
        subject: SUBJECTS[n % 3]!,
        labels: n % 20 === 0 ? ['few'] : [],
      }),
    ),
  );
  await Promise.all(Array.from({ length: MANY }, (_, n) => house.accept(`m${n}`, inboxId)));
  const received = house.offered.slice(0, 6);
  for (const [n, id] of received.entries()) await index(house, id, parsed({}, { subject: SUBJECTS[n % 3]! }));
  const filterOf = (subject: string, any: readonly string[] = []): MessageFilter =>
    normaliseFilter({ all: [], any: [...any], none: [] }, { subject });

  const listed = (kind: ListInput['kind'], filter: MessageFilter): MessageId[] => {
    const ids: MessageId[] = [];
    let cursor: string | null = null;
    do {
      const page = listMessages(house, {
        accountId: house.account,
        inboxId,
        kind,
        filter,
        order: 'newest',
        limit: 100,
        cursor,
      });
      ids.push(...page.summaries.map(summary => JSON.parse(summary.toString()).id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    return ids;
  };
  const counted = (kind: ListInput['kind'], filter: MessageFilter) =>
    countMessages(house, { accountId: house.account, inboxId, kind, filter });
  return { house, inboxId, sent, received, filterOf, listed, counted };
}

t.test('of sent mail and of received mail alike, whatever the rest of the filter', async t => {
  const { sent, received, filterOf, listed, counted } = await withMail(t);
  for (const subject of ['report', 'QUARTERLY', 'lunch?', 'nobody']) {
    for (const any of [[], ['few']]) {
      const filter = filterOf(subject, any);
      for (const kind of ['sent', 'received'] as const) {
        t.equal(await counted(kind, filter), listed(kind, filter).length, `${kind}: ${subject} ${any}`);
      }
    }
  }
  const reports = sent.filter(({ subject }) => /report/i.test(subject)).map(({ id }) => id);
  t.strictSame(listed('sent', filterOf('report')).toSorted(), reports.toSorted());
  t.strictSame(listed('received', filterOf('lunch')).toSorted(), [received[2], received[5]].toSorted());
});

t.test('and the matches of conversations are the messages of both lists', async t => {
  const { house, inboxId, filterOf, counted } = await withMail(t);
  const filter = filterOf('quarterly', ['few']);
  const threads = await threadsOf(house, inboxId, filter);
  const matches = threads.reduce((sum, thread) => sum + (thread.matching_message_count ?? 0), 0);
  t.equal(matches, (await counted('sent', filter)) + (await counted('received', filter)));
});
