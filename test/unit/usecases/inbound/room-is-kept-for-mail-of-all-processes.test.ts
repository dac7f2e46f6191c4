import t from 'tap';
import { splitEntries } from '../../../../src/mail/read/mbox.js';
import { bytesOwedTo } from '../../../../src/store/mailbox/messages.js';
import { MessageImport } from '../../../../src/usecases/inbound/import-messages.js';
import { countOwed } from '../../../../src/usecases/inbound/owed-room.js';
import { type House, withHouse } from '../with-house.js';
import { index, parsed } from '../with-parser.js';

function owedTo(house: House): number {
  return house.pending().reduce((sum, id) => sum + bytesOwedTo(house.message(id) ?? null), 0);
}

t.test('what others took in or parsed is counted', async t => {
  const house = await withHouse(t);
  const { room } = house.store;
  const inbox = await house.addInbox('agent');
  const ids = await Promise.all(Array.from({ length: 600 }, (_, n) => house.receive(`raw ${n}`, inbox)));
  for (const id of ids.slice(0, 3)) await index(house, id, parsed());
  const owed = owedTo(house);
  t.equal(room.owedBytes, owed);
  // As in a process that has not taken them in itself, and in one that has, where another has parsed some.
  for (const wrong of [-owed, 12_345]) {
    room.owe(wrong);
    await countOwed(house.store);
    t.equal(room.owedBytes, owed);
  }
  room.owe(-owed);
  const counting = countOwed(house.store);
  const meanwhile = await house.receive('raw', inbox);
  await counting;
  t.ok(room.owedBytes >= owed + bytesOwedTo(house.message(meanwhile)!), 'never less than what waits');
  await countOwed(house.store);
  t.equal(room.owedBytes, owedTo(house));
});

t.test('a long import does not keep room for mail that was parsed meanwhile', async t => {
  const house = await withHouse(t);
  const { store, inbound } = house;
  const inbox = await house.addInbox('agent');
  const work = new MessageImport({ store, inbound, maxMessageBytes: 10_000 }, inbox, 'agent@example.org');
  const entries = Array.from(
    { length: 1_000 },
    (_, n) => `From a@example.net Sat Jan  3 10:00:00 2015\nSubject: ${n}\n\nHello.\n\n`,
  );
  const file = (async function* () {
    yield Buffer.from(entries.join(''));
  })();
  // It was added here, and another process has taken it off.
  store.room.owe(1_000_000);
  let imported = 0;
  for await (const result of work.run(splitEntries(file))) if (result.kind === 'imported') imported += 1;
  t.equal(imported, 1_000);
  t.equal(store.room.owedBytes, owedTo(house));
});
