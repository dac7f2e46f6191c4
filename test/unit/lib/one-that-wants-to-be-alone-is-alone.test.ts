import t from 'tap';
import { Semaphore } from '../../../src/lib/async.js';

/** Slots, and work in them that ends when it is told to. */
function setUp(limit: number) {
  const slots = new Semaphore(limit);
  const inFlight = new Map<string, () => void>();
  const apply = (name: string, isAlone = false): Promise<void> =>
    slots.use(() => new Promise<void>(resolve => inFlight.set(name, resolve)), isAlone);
  const end = async (name: string): Promise<void> => {
    inFlight.get(name)?.();
    inFlight.delete(name);
    await turn();
  };
  return { slots, apply, end, names: () => [...inFlight.keys()].join('') };
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

t.test('as many at once as there are slots, in the order in which they came', async t => {
  const { slots, apply, end, names } = setUp(3);
  for (const name of 'abcdef') void apply(name);
  await turn();
  t.equal(names(), 'abc');
  t.equal(slots.taken, 3);
  await end('b');
  t.equal(names(), 'acd');
});

t.test('it waits for those before it, and those behind it wait for it', async t => {
  const { apply, end, names } = setUp(3);
  void apply('a');
  void apply('b');
  void apply('X', true);
  void apply('Y', true);
  void apply('c');
  await turn();
  t.equal(names(), 'ab');
  await end('a');
  t.equal(names(), 'b', 'a free slot is not given to those behind it');
  await end('b');
  t.equal(names(), 'X');
  await end('X');
  t.equal(names(), 'Y');
  await end('Y');
  t.equal(names(), 'c');
});

t.test('work that fails gives its slot back', async t => {
  const { slots, apply, names } = setUp(1);
  await t.rejects(
    slots.use(async () => {
      throw new Error('no');
    }, true),
    /no/,
  );
  void apply('a');
  await turn();
  t.equal(names(), 'a');
});
