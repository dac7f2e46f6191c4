import assert from 'node:assert/strict';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { NO_LABEL_FILTER } from '../../../../src/domain/labels.js';
import { NO_FILTER, normaliseFilter } from '../../../../src/domain/message-filter.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { deleteMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { countMessages } from '../../../../src/usecases/mailbox/count-messages.js';
import { listMessages } from '../../../../src/usecases/mailbox/list-messages.js';
import type { ByteStream } from '../../../../src/usecases/shared/contents.js';
import { listThreads } from '../../../../src/usecases/threads/list-threads.js';
import { getThreadDetail } from '../../../../src/usecases/threads/read-thread.js';
import { withHouse } from '../with-house.js';
import { index, parsed } from '../with-parser.js';
import { putSent } from '../with-sent.js';

const MINUTE = 60_000;
const YEAR = 365 * 24 * 60 * MINUTE;

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('received', 'sent'),
    /** By how much the clock is moved before the message comes, besides a minute. */
    movedMs: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      fc.constantFrom(YEAR, -YEAR, 90 * MINUTE, -90 * MINUTE),
    ),
    isDeleted: fc.boolean(),
    isOther: fc.boolean(),
  }),
  { minLength: 1, maxLength: 14 },
);
type Step = typeof steps extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

async function run(t: Test, given: readonly Step[], bounds: readonly [number, number]): Promise<void> {
  const house = await withHouse(t);
  const { store, cursors, now, account: accountId } = house;
  const inboxId = await house.addInbox('agent');
  const deps = { store, cursors };
  const kept: { id: string; kind: 'received' | 'sent'; at: number; isOther: boolean }[] = [];
  now.setBackMs = 0;
  for (const [step, { kind, movedMs, isDeleted, isOther }] of given.entries()) {
    now.ms += MINUTE + movedMs;
    if (movedMs < 0) now.setBackMs -= movedMs;
    const ids = {
      messageId: `${step}@x.example`,
      references: [isOther ? 'b@x.example' : 'a@x.example'],
      inReplyTo: [],
    };
    let id: string;
    if (kind === 'sent') {
      id = (await putSent(store, inboxId, now.ms, { ...ids, messageId: ids.messageId }, now.setBackMs)).id;
    } else {
      const received = await house.receive('Subject: x\r\n\r\n', inboxId);
      await index(house, received, parsed({}, { ids, messageId: `<${ids.messageId}>` }));
      id = received;
    }
    if (isDeleted) await deleteMessage({ store, clock: house.clock }, { accountId, messageId: id, kind });
    else kept.push({ id, kind, at: now.ms, isOther });
  }
  for (const kind of ['received', 'sent'] as const) {
    const all = kept.filter(message => message.kind === kind);
    const [after, before] = bounds.map(at => given.length * at * MINUTE + START);
    const text = (ms: number): string => new Date(ms).toISOString();
    const between = normaliseFilter(NO_LABEL_FILTER, { after: text(after!), before: text(before!) });
    const from = normaliseFilter(NO_LABEL_FILTER, { after: text(after!) });
    for (const [filter, meets] of [
      [NO_FILTER, () => true],
      [between, (at: number) => at >= after! && at < before!],
      [from, (at: number) => at >= after!],
    ] as const) {
      const expected = all.filter(({ at }) => meets(at)).map(({ id, at }) => [id, text(at)]);
      for (const order of ['oldest', 'newest'] as const) {
        const found: string[][] = [];
        for (let cursor: string | null = null; ; ) {
          const page = listMessages(deps, { accountId, inboxId, kind, filter, order, limit: 2, cursor });
          for (const summary of page.summaries) {
            const { id, received_at, created_at } = JSON.parse(summary.toString());
            found.push([id, received_at ?? created_at]);
          }
          cursor = page.nextCursor;
          if (cursor === null) break;
        }
        assert.deepEqual(order === 'newest' ? found.reverse() : found, expected, `${kind} ${order}`);
      }
      const count = await countMessages(deps, { accountId, inboxId, kind, filter });
      assert.equal(count, expected.length);
    }
  }
  const list = { accountId, inboxId, filter: NO_FILTER, order: 'newest', limit: 10, cursor: null } as const;
  const { threads } = await listThreads(deps, list);
  const last = [true, false].map(isOther => kept.findLast(message => message.isOther === isOther));
  const lasts = kept.filter(message => last.includes(message)).reverse();
  assert.deepEqual(
    threads.map(thread => [thread.latest_message.id, thread.last_activity_at]),
    lasts.map(({ id, at }) => [id, new Date(at).toISOString()]),
    'conversations by their last message, with the instant of that',
  );
  for (const [n, thread] of threads.entries()) {
    const members: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const detail = getThreadDetail(deps, { accountId, threadId: thread.id, limit: 1, cursor });
      const page = JSON.parse(await textOf(detail)) as {
        messages: { id: string }[];
        next_cursor: string | null;
      };
      members.unshift(...page.messages.map(({ id }) => id));
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    const own = kept.filter(({ isOther }) => isOther === lasts[n]!.isOther);
    assert.deepEqual(
      members,
      own.map(({ id }) => id),
      'received and sent in the order in which they came',
    );
  }
  assert.deepEqual(verifyStore(store).faults, []);
}

const START = Date.UTC(2026, 0, 15, 12);

async function textOf({ bytes }: ByteStream): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}

t.test('lists, counts, filters and conversations, whatever the clock has done', async t => {
  const bounds = fc.tuple(
    fc.double({ min: 0, max: 0.5, noNaN: true }),
    fc.double({ min: 0.6, max: 1.2, noNaN: true }),
  );
  await fc.assert(
    fc.asyncProperty(steps, bounds, (given, of) => run(t, given, of)),
    { numRuns: 60 },
  );
});
