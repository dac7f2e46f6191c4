import t from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import { WorkPlaces } from '../../../src/queue/work-places.js';
import { isParsedAlone, recoverParsing } from '../../../src/usecases/inbound/index-message.js';
import { type House, withHouse } from '../usecases/with-house.js';
import { index, type Parse, parsed } from '../usecases/with-parser.js';

/**
 * One process: parses what is pending, many messages at once, as the consumer does. It ends, with all messages in
 * flight, when the parser meets a culprit.
 */
async function live(house: House, culprits: ReadonlySet<MessageId>): Promise<'died' | 'finished'> {
  let isDead = false;
  return new Promise(resolve => {
    const parse =
      (id: MessageId): Parse =>
      async source => {
        if (culprits.has(id)) {
          isDead = true;
          resolve('died');
        }
        await new Promise(next => setImmediate(next));
        return isDead ? new Promise(() => {}) : parsed()(source);
      };
    const ids = house.pending();
    let left = ids.length;
    const places = new WorkPlaces({ small: 64 }, async key => {
      const id = key as MessageId;
      // A process that has ended begins no work.
      if (isDead) return new Promise(() => {});
      await index(house, id, parse(id));
      if (--left === 0) resolve('finished');
    });
    places.add(
      ids.map(id => [id, { way: 'small', owner: 'ann', isAlone: isParsedAlone(house.message(id)!) }]),
    );
    if (left === 0) resolve('finished');
  });
}

t.test('though a hundred others were in hand with it each time', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const ids = await Promise.all(Array.from({ length: 150 }, (_, n) => house.receive(`raw ${n}`, inbox)));
  const culprits = new Set([ids[40]!, ids[90]!]);
  let lives = 1;
  while ((await live(house, culprits)) === 'died') {
    lives++;
    await house.store.write(() => undefined);
    await recoverParsing(house);
  }
  for (const id of ids) {
    const expected = culprits.has(id)
      ? { status: 'failed', failure: 'worker_died', interruptions: 10 }
      : { status: 'ready', tries: 1 };
    t.match(house.message(id), expected);
  }
  t.ok(ids.every(id => culprits.has(id) || house.message(id)!.interruptions <= 2));
  t.comment(`${lives} lives`);
  t.strictSame(house.pending(), []);
});

t.test('a culprit is parsed when nothing else is in hand', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => house.receive(`raw ${n}`, inbox)));
  const culprits = new Set([ids[5]!]);
  for (let times = 1; times <= 5; times++) {
    t.equal(await live(house, culprits), 'died');
    await house.store.write(() => undefined);
    t.equal(await recoverParsing(house), times <= 2 ? ids.length : 1);
  }
  t.equal(house.message(ids[5]!)?.interruptions, 5);
});
