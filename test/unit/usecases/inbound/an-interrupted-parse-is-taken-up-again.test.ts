import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { recoverParsing } from '../../../../src/usecases/inbound/index-message.js';
import { pattern } from '../../store/with-blobs.js';
import { withHouse } from '../with-house.js';
import { gaveUp, index, type Parse, parsed } from '../with-parser.js';

/** A parse that never ends: its process did. */
const interrupted = (house: Awaited<ReturnType<typeof withHouse>>, id: Parameters<typeof index>[1]) =>
  new Promise<void>(resolve => {
    void index(house, id, () => {
      resolve();
      return new Promise(() => {});
    });
  });

t.test('at boot messages in work return to pending, and those that wait are left alone', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => house.receive(`raw ${n}`, inbox)));
  for (const id of ids.slice(0, 5)) await interrupted(house, id);
  await index(house, ids[29]!, gaveUp('error'));
  t.equal(await recoverParsing(house), 5);
  for (const id of ids.slice(0, 5))
    t.match(house.message(id), { status: 'pending', tries: 0, interruptions: 1 });
  t.match(house.message(ids[29]!), { status: 'pending', tries: 1, interruptions: 0 });
  t.equal(house.pending().length, 30);
  t.equal(await recoverParsing(house), 0, 'a second look finds nothing');
});

t.test('one that waits for a later try is taken up too', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  await index(house, id, gaveUp('error'));
  await interrupted(house, id);
  t.equal(await recoverParsing(house), 1);
  t.match(house.message(id), { status: 'pending', tries: 1 });
});

t.test('a message that takes the process down ten times is failed', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  for (let n = 1; n <= 10; n++) {
    t.equal(house.message(id)?.status, 'pending', `before interruption ${n}`);
    await interrupted(house, id);
    await recoverParsing(house);
  }
  t.match(house.message(id), { status: 'failed', interruptions: 10 });
  t.strictSame(house.pending(), []);
});

t.test(
  'a small message that has just come is parsed without a mark, until anything speaks against it',
  async t => {
    const house = await withHouse(t);
    const inbox = await house.addInbox('agent');
    const startedAt = house.now.ms;
    const statusDuring = async (id: MessageId, since: number | null, end: Parse = parsed()) => {
      let status: string | undefined;
      await index(
        house,
        id,
        source => {
          status = house.message(id)?.status;
          return end(source);
        },
        { startedAt: since },
      );
      return status;
    };
    t.equal(await statusDuring(await house.receive('raw', inbox), startedAt), 'pending');
    const old = await house.receive('raw', inbox);
    t.equal(await statusDuring(old, house.now.ms + 1), 'processing', 'it came before this process');
    t.equal(
      await statusDuring(await house.receive(pattern(300_000), inbox), startedAt),
      'processing',
      'large',
    );
    house.now.setBackMs = 1;
    t.equal(
      await statusDuring(await house.receive('raw', inbox), startedAt),
      'processing',
      'the clock is wrong',
    );
    house.now.setBackMs = 0;

    const failing = await house.receive('raw', inbox);
    t.equal(await statusDuring(failing, startedAt, async () => ({ status: 'stopped' })), 'pending');
    t.match(house.message(failing), { status: 'pending', tries: 0 }, 'a stop is no try');
    t.equal(await statusDuring(failing, startedAt, gaveUp('error')), 'pending');
    t.match(house.message(failing), { status: 'pending', tries: 1 });
    t.equal(await statusDuring(failing, startedAt, gaveUp('error')), 'processing', 'the second try');
    t.equal(await statusDuring(failing, startedAt, gaveUp('error')), 'processing');
    t.match(house.message(failing), { status: 'failed', tries: 3 });
    t.same(verifyStore(house.store).faults, []);
  },
);
