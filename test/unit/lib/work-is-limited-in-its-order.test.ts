import t from 'tap';
import { Semaphore } from '../../../src/lib/async.js';

/** Slots, and work in them that ends when it is told to. */
function setUp(limit: number) {
  const slots = new Semaphore(limit);
  const inFlight = new Map<string, () => void>();
  const apply = (name: string): Promise<void> =>
    slots.use(() => new Promise<void>(resolve => inFlight.set(name, resolve)));
  const end = async (name: string): Promise<void> => {
    inFlight.get(name)?.();
    inFlight.delete(name);
    await turn();
  };
  return { slots, apply, end, names: () => [...inFlight.keys()].join('') };
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

t.test('as many at once as there are slots, in the order in which they came', async t => {
  const { apply, end, names } = setUp(3);
  for (const name of 'abcdef') void apply(name);
  await turn();
  t.equal(names(), 'abc');
  await end('b');
  t.equal(names(), 'acd');
  for (const name of 'acd') await end(name);
  t.equal(names(), 'ef');
});

t.test('work that fails gives its slot back', async t => {
  const { slots, apply, names } = setUp(1);
  const fails = slots.use(async () => {
    throw new Error('no');
  });
  void apply('a');
  await t.rejects(fails, /no/);
  await turn();
  t.equal(names(), 'a');
});
