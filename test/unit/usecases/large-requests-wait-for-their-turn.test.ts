import t from 'tap';
import { Refusal } from '../../../src/domain/errors.js';
import { MemoryInHand } from '../../../src/usecases/shared/in-hand.js';

const MIB = 2 ** 20;

async function refusalOf(work: Promise<unknown>): Promise<Refusal['failure'] | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.failure;
    throw error;
  }
}

t.test('two bodies of eight megabytes an account; the third is told when to come again', async t => {
  const memory = new MemoryInHand(20);
  const hand = (account: string) => memory.hand(account, 'draft_unavailable');
  const first = hand('one');
  await first.takeBody(8 * MIB);
  await hand('one').takeBody(8 * MIB);
  t.match(await refusalOf(hand('one').takeBody(8 * MIB)), { code: 'draft_unavailable', retryAfterS: Number });
  t.equal(await refusalOf(hand('two').takeBody(8 * MIB)), null, 'another account has its own');
  first.letGo();
  t.equal(await refusalOf(hand('one').takeBody(8 * MIB)), null);
});

t.test('eight bodies of eight megabytes in all', async t => {
  const memory = new MemoryInHand(20);
  const takeBody = (account: string) => memory.hand(account, 'outbound_unavailable').takeBody(8 * MIB);
  for (let n = 0; n < 8; n++) await takeBody(`account ${n}`);
  t.match(await refusalOf(takeBody('late')), { code: 'outbound_unavailable' });
});

t.test('two that both need more than they have do not wait for each other', async t => {
  const memory = new MemoryInHand(60_000);
  const hands = ['one', 'two'].map(account => memory.hand(account, 'outbound_unavailable'));
  for (const hand of hands) await hand.takeBody(8 * MIB);
  for (const hand of hands) await hand.takeWork(8 * MIB);
  await Promise.all(hands.map(hand => hand.takeWork(8 * MIB).then(() => hand.letGo())));
  t.equal(memory.bodies.taken + memory.work.taken, 0, 'all is given back');
});

t.test('small contents are not counted', async t => {
  const memory = new MemoryInHand(20);
  const hand = memory.hand('one', 'outbound_unavailable');
  await hand.takeWork(1_000);
  t.equal(memory.work.taken, 0);
});
