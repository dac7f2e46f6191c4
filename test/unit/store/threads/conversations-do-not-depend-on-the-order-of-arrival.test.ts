import fc from 'fast-check';
import type { Test } from 'tap';
import t from 'tap';
import { type InboxId, type MessageId, newId, type ThreadId } from '../../../../src/domain/ids.js';
import { MAX_THREAD_KEYS, threadKeys } from '../../../../src/domain/message-ids.js';
import type { Store } from '../../../../src/store/engine/store.js';
import type { SentRecord } from '../../../../src/store/mailbox/messages.js';
import { joinThread } from '../../../../src/store/threads/move.js';
import { canonicalThread } from '../../../../src/store/threads/names.js';
import { putSent } from '../../usecases/with-sent.js';
import { withStore } from '../with-store.js';
import { countingWriter } from './counting-writer.js';

const seed = Number(process.env.TEST_SEED ?? 20_260_117);
const inbox = () => newId<InboxId>(Date.now());

interface Letter {
  readonly messageId: string;
  readonly references: readonly string[];
}

/** Writes letters in an order; which of them are one conversation, each by the first of its letters. */
async function arrive(store: Store, letters: readonly Letter[], order: readonly number[]): Promise<string[]> {
  const inboxId = inbox();
  const threads = new Map<number, ThreadId>();
  for (const at of order) {
    const { threadId } = await putSent(store, inboxId, at, letters[at]);
    if (threadId !== null) threads.set(at, threadId);
  }
  return store.read(reader => {
    const shown = letters.map((_, at) => canonicalThread(reader, threads.get(at)!));
    return shown.map(thread => `with ${shown.indexOf(thread)}`);
  });
}

/** What the ids say, without any order. */
function partition(letters: readonly Letter[]): string[] {
  const first = letters.map((_, at) => at);
  const keys = letters.map(({ messageId, references }) =>
    threadKeys({ messageId, references, inReplyTo: [] }),
  );
  for (let changed = true; changed; ) {
    changed = false;
    for (const [a, keysA] of keys.entries()) {
      for (const [b, keysB] of keys.entries()) {
        if (first[a]! < first[b]! && keysA.some(key => keysB.includes(key))) {
          first[b] = first[a]!;
          changed = true;
        }
      }
    }
  }
  return first.map(at => `with ${at}`);
}

t.test('the same letters make the same conversations in any order', async t => {
  t.comment(`seed ${seed}`);
  const store = await withStore(t);
  const key = fc.nat(20).map(n => `${n}@x.example`);
  const letters = fc.array(fc.record({ messageId: key, references: fc.array(key, { maxLength: 3 }) }), {
    minLength: 2,
    maxLength: 14,
  });
  const arrivals = letters.chain(some =>
    fc.tuple(fc.constant(some), fc.shuffledSubarray([...some.keys()], { minLength: some.length })),
  );
  await fc.assert(
    fc.asyncProperty(arrivals, async ([some, order]) => {
      t.strictSame(await arrive(store, some, [...some.keys()]), partition(some));
      t.strictSame(await arrive(store, some, order), partition(some));
    }),
    { seed, numRuns: 40 },
  );
});

t.test('a message that mentions thousands of ids is tied by a few, chosen by itself', t => {
  const references = Array.from({ length: 2_000 }, (_, n) => `${n}@x.example`);
  const inReplyTo = Array.from({ length: 2_000 }, (_, n) => `r${n}@x.example`);
  const keys = threadKeys({ messageId: 'own@x.example', references, inReplyTo });
  t.equal(keys.length, MAX_THREAD_KEYS);
  for (const id of ['own@x.example', '0@x.example', '1999@x.example', 'r1999@x.example'])
    t.ok(keys.includes(id), id);
  t.strictSame(threadKeys({ messageId: null, references: ['a', 'b', 'a'], inReplyTo: ['b'] }), ['b', 'a']);
  t.strictSame(threadKeys({ messageId: null, references: [], inReplyTo: [] }), []);
  t.end();
});

/** The questions and changes that it takes to join, which is all that the time depends on. */
async function costOf(store: Store, inboxId: InboxId, references: readonly string[]): Promise<number> {
  const messageId = `${newId<MessageId>(1)}@x.example`;
  return store.write(writer => {
    const counting = countingWriter(writer);
    joinThread(counting.writer, inboxId, { messageId, references, inReplyTo: [] }, 1);
    return counting.count();
  });
}

const ids = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}@x.example`);

t.test('what a hostile message costs is bounded', async t => {
  const store = await withStore(t);
  const inboxId = inbox();
  t.ok((await costOf(store, inboxId, ids(2_000, 'nobody'))) <= 4 * MAX_THREAD_KEYS, 'ids that nobody has');
  const conversations = ids(500, 'conversation');
  for (const messageId of conversations) await putSent(store, inboxId, 1, { messageId });
  const cost = await costOf(store, inboxId, conversations);
  t.ok(cost <= 32 * MAX_THREAD_KEYS, `ids of five hundred conversations: ${cost}`);
});

t.test('ids that were merged one after the other are resolved in a few steps', async (t: Test) => {
  const store = await withStore(t);
  const inboxId = inbox();
  const records: SentRecord[] = [];
  // Older and older: each merge makes another id the one that is shown.
  for (const messageId of ids(400, 'm')) records.push(await putSent(store, inboxId, 1, { messageId }));
  for (let n = 398; n >= 0; n--) {
    await putSent(store, inboxId, 1, { references: [`m${n}@x.example`, `m${n + 1}@x.example`] });
  }
  const steps = await store.write(writer =>
    records.map(({ threadId }) => {
      const counting = countingWriter(writer);
      t.equal(canonicalThread(counting.writer, threadId!), records[0]?.threadId);
      return counting.count();
    }),
  );
  t.ok(Math.max(...steps) <= 1 + Math.log2(800), `${Math.max(...steps)} steps`);
});
