import t from 'tap';
import { getCounters } from '../../../../src/store/mailbox/folders.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { countChunks, countUploads, pattern, readAll } from '../../store/with-blobs.js';
import { takeRoom } from '../../store/with-store.js';
import { envelopeTo, withHouse } from '../with-house.js';

for (const size of [0, 400, 65_520, 300_000, 5_000_001]) {
  t.test(`${size} bytes read back as they came`, async t => {
    const house = await withHouse(t);
    const inbox = await house.addInbox('agent');
    const id = await house.receive(pattern(size), inbox);
    const record = house.message(id);
    t.match(record, { status: 'pending', seq: 1, tries: 0, envelopeTo: 'rcpt0@example.org', raw: { size } });
    t.ok((await readAll(house.store, record!.raw)).equals(pattern(size)));
    t.strictSame(house.pending(), [id]);
    t.strictSame(house.offered, [id]);
    t.equal(countUploads(house.store), 0);
  });
}

t.test('one record an inbox, under the first address that reached it, over shared bytes', async t => {
  const house = await withHouse(t);
  const [one, two] = [await house.addInbox('one'), await house.addInbox('two')];
  const outcome = await house.accept('hello', one, two, one, two);
  t.equal(outcome.status, 'accepted');
  const records = house.offered.map(id => house.message(id));
  t.strictSame(
    records.map(record => [record?.inboxId, record?.envelopeTo]),
    [
      [one, 'rcpt0@example.org'],
      [two, 'rcpt1@example.org'],
    ],
  );
  t.equal(records[0]?.raw.id, records[1]?.raw.id);
  t.equal(countChunks(house.store), 1);
});

t.test('an inbox that was deleted since RCPT gets nothing; when all were, nobody does', async t => {
  const house = await withHouse(t);
  const [one, two] = [await house.addInbox('one'), await house.addInbox('two')];
  const deleted = async (inboxId: string) => deleteInbox(house, { accountId: house.account, inboxId });
  await deleted(one);
  t.match(await house.accept('hello', one, two), { status: 'accepted', messageIds: [String] });
  t.equal(house.offered.length, 1);
  await deleted(two);
  t.strictSame(await house.accept(pattern(400_000), one, two), { status: 'no_recipients' });
  t.equal(house.offered.length, 1);
  await house.sweepAll();
  t.equal(countChunks(house.store), 0, 'its bytes are gone');
});

t.test('what is aborted leaves nothing', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const incoming = house.inbound.begin();
  for (let n = 0; n < 20; n++) if (!incoming.write(pattern(50_000))) await incoming.drained();
  incoming.abort();
  incoming.abort();
  await house.store.write(() => undefined);
  await house.sweepAll();
  t.equal(countChunks(house.store), 0);
  t.equal(countUploads(house.store), 0);
  t.equal(house.store.read(reader => getCounters(reader, { inboxId: inbox, kind: 'received' })).live, 0);
});

t.test('below the floor mail is read to its end and refused, and nothing of it stays', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  takeRoom(house.store);
  t.notOk(house.inbound.hasRoom());
  const incoming = house.inbound.begin();
  for (let n = 0; n < 100; n++) t.ok(incoming.write(pattern(65_536)), 'never waits');
  await incoming.drained();
  t.strictSame(await incoming.commit(envelopeTo(inbox)), { status: 'no_room' });
  incoming.abort();
  t.equal(countChunks(house.store), 0);
  t.strictSame(house.pending(), []);
});

t.test('messages of one inbox are numbered without gaps, however many come at once', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  await Promise.all(Array.from({ length: 200 }, (_, n) => house.accept(`message ${n}`, inbox)));
  const numbers = house.offered.map(id => house.message(id)!.seq).sort((a, b) => a - b);
  t.strictSame(
    numbers,
    Array.from({ length: 200 }, (_, n) => n + 1),
  );
  const { bytes, ...counters } = house.store.read(reader =>
    getCounters(reader, { inboxId: inbox, kind: 'received' }),
  );
  t.strictSame(counters, { nextSeq: 201, live: 200, lastAt: house.now.ms, version: 200 });
  t.ok(bytes > 200 * 1_024, 'every one counts');
});
