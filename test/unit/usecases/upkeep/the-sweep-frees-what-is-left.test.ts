import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import type { Table } from '../../../../src/store/engine/tables.js';
import { getCounters, summariesTable } from '../../../../src/store/mailbox/folders.js';
import { messagesTable } from '../../../../src/store/mailbox/messages.js';
import { CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { idempotencyTable, pendingTable } from '../../../../src/store/records/pending.js';
import { createInbox } from '../../../../src/usecases/inboxes/create-inbox.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { deleteMessage, trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { listMessages } from '../../../../src/usecases/mailbox/list-messages.js';
import { recoverUploads, sweep } from '../../../../src/usecases/upkeep/sweep.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { indexAll } from '../../search/with-index.js';
import { FIRST, LAST } from '../../store/lines.js';
import { countChunks, countUploads, pattern, readAll, upload } from '../../store/with-blobs.js';
import { ALL_MAIL, DAY_MS, type House, withHouse } from '../with-house.js';
import { attachCopy, index, parsed } from '../with-parser.js';

const count = <Key, Value>(house: House, table: Table<Key, Value>) =>
  house.store.read(reader => reader.scanKeys(table, { from: FIRST, to: LAST, limit: 1e6 })).length;

/** Pending work but for that by which events are forgotten in a month. */
const countPending = (house: House) =>
  house.store
    .read(reader => reader.scan(pendingTable, { from: FIRST, to: LAST, limit: 1e6 }))
    .filter(({ value }) => value.kind !== 'expire-events').length;

const counts = (house: House) => ({
  messages: count(house, messagesTable),
  summaries: count(house, summariesTable),
  pending: countPending(house),
  chunks: countChunks(house.store),
});

const NOTHING = { messages: 0, summaries: 0, pending: 0, chunks: 0 };

/** An inbox of 250 messages in every state, with attachments and long contents among them. */
async function fill(house: House) {
  const inbox = await house.addInbox('agent');
  const first = house.offered.length;
  await Promise.all(
    Array.from({ length: 250 }, (_, n) => house.accept(pattern(n % 50 === 0 ? 150_000 : 500), inbox)),
  );
  for (const id of house.offered.slice(first, first + 20)) {
    await index(house, id, parsed({ text: 'x'.repeat(100_000) }));
    await attachCopy(house, id, 'copy.bin', pattern(100_000));
  }
  return inbox;
}

t.test('a deleted inbox of 250 messages is erased, the neighbour is not', async t => {
  const house = await withHouse(t);
  const neighbour = await house.addInbox('neighbour');
  const shared = await house.addInbox('shared');
  const kept = await house.receive(pattern(200_000), neighbour, shared);
  await deleteInbox(house, { accountId: house.account, inboxId: shared });
  await house.sweepAll();
  const before = counts(house);
  const inbox = await fill(house);
  await deleteInbox(house, { accountId: house.account, inboxId: inbox });
  await house.sweepAll();
  await indexAll(house);
  t.strictSame(counts(house), before);
  t.equal(house.message(kept)?.status, 'pending');
  t.ok(
    (await readAll(house.store, house.message(kept)!.raw)).equals(pattern(200_000)),
    'its shared bytes are there',
  );
  await deleteMessage(house, { accountId: house.account, messageId: kept, kind: 'received' });
  await house.sweepAll();
  await indexAll(house);
  t.strictSame(counts(house), NOTHING);
  t.strictSame(
    house.store.read(reader => getCounters(reader, { inboxId: inbox, kind: 'received' })),
    { nextSeq: 1, live: 0, lastAt: 0, version: 0, bytes: 0 },
  );
});

t.test('it stops when asked, and goes on later from where it was', async t => {
  const house = await withHouse(t);
  const inbox = await fill(house);
  await deleteInbox(house, { accountId: house.account, inboxId: inbox });
  let left = counts(house);
  await sweep(house, () => true);
  t.strictSame(counts(house), left, 'asked before the first step');
  for (let step = 0; count(house, messagesTable) + countChunks(house.store) > 0; step++) {
    let asked = 0;
    await sweep(house, () => asked++ > 4);
    const now = counts(house);
    t.ok(left.messages - now.messages <= 100 && left.chunks - now.chunks <= 64, `step ${step} is bounded`);
    left = now;
    if (step > 100) return t.fail('does not end');
  }
  await house.sweepAll();
  await indexAll(house);
  t.strictSame(counts(house), NOTHING);
});

t.test('a deleted message is out of reach at once and its bytes follow', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const ids: MessageId[] = [];
  for (let n = 0; n < 5; n++) ids.push(await house.receive(pattern(CHUNK_BYTES * 70), inbox));
  await deleteMessage(house, { accountId: house.account, messageId: ids[2]!, kind: 'received' });
  t.match(
    await outcomeOf(() =>
      deleteMessage(house, { accountId: house.account, messageId: ids[2]!, kind: 'received' }),
    ),
    {
      failure: { code: 'not_found' },
    },
  );
  const page = listMessages(house, {
    ...ALL_MAIL,
    accountId: house.account,
    inboxId: inbox,
    limit: 10,
    cursor: null,
  });
  t.strictSame(
    page.summaries.map(summary => JSON.parse(summary.toString()).id),
    [4, 3, 1, 0].map(n => ids[n]),
  );
  t.notOk(house.pending().includes(ids[2]!));
  await house.sweepAll();
  t.equal(countChunks(house.store), 4 * 70);
});

t.test('expired keys are forgotten, and no others', async t => {
  const house = await withHouse(t, { inboxLimit: 300 });
  for (let n = 0; n < 250; n++) {
    await createInbox(house.inboxes, {
      accountId: house.account,
      local_part: `a${n}`,
      idempotency_key: `k${n}`,
    });
    if (n === 239) house.now.ms += 1000;
  }
  house.now.ms += DAY_MS - 1000;
  await house.sweepAll();
  t.equal(count(house, idempotencyTable), 10);
  house.now.ms += 1000;
  await house.sweepAll();
  t.equal(count(house, idempotencyTable), 0);
  t.equal(countPending(house), 0);
});

t.test('uploads that a process left unfinished are freed at boot', async t => {
  const house = await withHouse(t);
  for (let n = 0; n < 3; n++) await upload(house.uploads.begin(), [pattern(3 * CHUNK_BYTES)]);
  await house.store.write(() => undefined);
  t.equal(countUploads(house.store), 3);
  t.equal(await recoverUploads(house), 3);
  await house.sweepAll();
  await indexAll(house);
  t.strictSame(counts(house), NOTHING);
  t.equal(countUploads(house.store), 0);
});

t.test('a line without its message does not hold the sweep up', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const id = await house.receive('raw', inbox);
  await house.store.write(writer => writer.remove(messagesTable, id));
  await deleteInbox(house, { accountId: house.account, inboxId: inbox });
  await house.sweepAll();
  t.equal(count(house, summariesTable), 0);
});

t.test('a step that fails is named, and the others go on to the end', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const damaged = await house.receive('raw', inbox);
  await trashMessage(house, { accountId: house.account, messageId: damaged, kind: 'received' });
  const unreadable = { ...messagesTable, encodeValue: () => Buffer.of(99) };
  await house.store.write(writer => writer.put(unreadable, damaged, house.message(damaged)!));
  const long = await house.receive(pattern(CHUNK_BYTES * 150), inbox);
  await deleteMessage(house, { accountId: house.account, messageId: long, kind: 'received' });
  house.now.ms += 7 * DAY_MS;
  await t.rejects(house.sweepAll(), {
    name: 'AggregateError',
    message: 'steps that failed: purge-trash',
    errors: [{ message: /version 99/ }],
  });
  t.equal(countChunks(house.store), 1, 'three units of work freed the bytes of the other');
});

t.test('many small things of one kind share a unit of work', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  for (let n = 0; n < 70; n++) {
    const messageId = await house.receive('raw', inbox);
    await deleteMessage(house, { accountId: house.account, messageId, kind: 'received' });
  }
  let units = 0;
  const store: Pick<House['store'], 'read' | 'room' | 'write'> = {
    room: house.store.room,
    read: work => house.store.read(work),
    write: (...unit) => {
      units += 1;
      return house.store.write(...unit);
    },
  };
  await sweep({ ...house, store: store as House['store'] }, () => false);
  t.equal(units, 2, '64 chunks, then 6');
  t.strictSame(counts(house), NOTHING);
});
