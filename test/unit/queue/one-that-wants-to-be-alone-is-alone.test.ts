import t from 'tap';
import { type Applicant, ParseSlots, type ParseSlotsOptions } from '../../../src/queue/parse-slots.js';

/** Slots, and work in them that ends when it is told to. */
function setUp(options: Partial<ParseSlotsOptions> = {}) {
  const slots = new ParseSlots({ limit: 3, limitWhenBusy: 1, isBusy: () => false, ...options });
  const inHand = new Map<string, () => void>();
  const apply = (name: string, applicant: Partial<Applicant> = {}): Promise<void> =>
    slots.use({ isAlone: false, since: Date.now(), ...applicant }, () => {
      return new Promise<void>(resolve => inHand.set(name, resolve));
    });
  const end = async (name: string): Promise<void> => {
    inHand.get(name)?.();
    inHand.delete(name);
    await turn();
  };
  return { slots, apply, end, names: () => [...inHand.keys()].join('') };
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

t.test('as many at once as there are slots, in the order in which they came', async t => {
  const { slots, apply, end, names } = setUp();
  for (const name of 'abcdef') void apply(name);
  await turn();
  t.equal(names(), 'abc');
  t.equal(slots.taken, 3);
  await end('b');
  t.equal(names(), 'acd');
});

t.test('it waits for those before it, and those behind it wait for it', async t => {
  const { apply, end, names } = setUp();
  void apply('a');
  void apply('b');
  void apply('X', { isAlone: true });
  void apply('Y', { isAlone: true });
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
  const { slots, apply, names } = setUp({ limit: 1 });
  await t.rejects(
    slots.use({ isAlone: true, since: 0 }, async () => {
      throw new Error('no');
    }),
    /no/,
  );
  void apply('a');
  await turn();
  t.equal(names(), 'a');
});

t.test('in a busy moment few are admitted, and the others when it is over', async t => {
  let isBusy = true;
  const { apply, names, end } = setUp({ isBusy: () => isBusy });
  const last = apply('c');
  for (const name of 'de') void apply(name);
  await turn();
  t.equal(names(), 'c');
  await end('c');
  await last;
  t.equal(names(), 'd');
  isBusy = false;
  while (names() !== 'de') await turn();
});

t.test('but nobody waits for long because of it', async t => {
  const { apply, names } = setUp({ isBusy: () => true });
  const longAgo = Date.now() - 1_000;
  for (const name of 'abcd') void apply(name, { since: longAgo });
  await turn();
  t.equal(names(), 'abc');
});
