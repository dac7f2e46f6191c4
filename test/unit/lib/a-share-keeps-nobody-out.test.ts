import t from 'tap';
import { FairShare } from '../../../src/lib/async.js';

const LONG_MS = 60_000;

/** Lets everything run that waits for nothing but promises. */
const settle = () => new Promise(resolve => setImmediate(resolve));

/** A share of which it can be said who was admitted, in order, and who gives back. */
function shareOf(capacity: number, perParty: number) {
  const share = new FairShare({ capacity, perParty });
  const admitted: string[] = [];
  const held = new Map<string, () => void>();
  const ask = async (name: string, amount = 1, timeoutMs = LONG_MS) => {
    const letGo = await share.take(name.slice(0, 1), amount, timeoutMs);
    if (letGo === null) return admitted.push(`${name} gave up`);
    held.set(name, letGo);
    return admitted.push(name);
  };
  return { share, admitted, ask, end: (name: string) => held.get(name)?.() };
}

t.test('no party has more than its own, and others are not kept waiting by it', async t => {
  const { admitted, ask, end, share } = shareOf(4, 2);
  for (const name of ['a1', 'a2', 'a3', 'b1']) void ask(name);
  await settle();
  t.strictSame(admitted, ['a1', 'a2', 'b1']);
  end('a1');
  end('a1');
  await settle();
  t.strictSame(admitted, ['a1', 'a2', 'b1', 'a3']);
  t.equal(share.taken, 3, 'what is given back twice is given back once');
  for (const name of ['a2', 'a3', 'b1']) end(name);
  t.equal(share.taken, 0);
});

t.test('whoever has least comes first; of those, whoever has waited longest for a turn', async t => {
  const { admitted, ask, end } = shareOf(2, 2);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void ask(name);
  await settle();
  t.strictSame(admitted, ['a1', 'a2']);
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) {
    end(name);
    await settle();
  }
  t.strictSame(admitted, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

t.test('a large one is not overtaken by small ones for ever, and is never larger than a share', async t => {
  const { admitted, ask, end } = shareOf(4, 4);
  void ask('a1', 3);
  await settle();
  void ask('b1', 100);
  void ask('c1', 1);
  await settle();
  t.strictSame(admitted, ['a1'], 'c1 waits behind b1');
  end('a1');
  await settle();
  end('b1');
  await settle();
  t.strictSame(admitted, ['a1', 'b1', 'c1']);
});

t.test('whoever gives up no longer stands in the way', async t => {
  const { admitted, ask, end } = shareOf(4, 4);
  void ask('a1', 3);
  await settle();
  const gaveUp = ask('b1', 4, 1);
  void ask('c1', 1);
  await gaveUp;
  await settle();
  t.strictSame(admitted.sort(), ['a1', 'b1 gave up', 'c1']);
  end('a1');
});
