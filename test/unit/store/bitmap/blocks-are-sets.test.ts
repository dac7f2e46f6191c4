import fc from 'fast-check';
import t from 'tap';
import {
  BLOCK_BITS,
  blockOf,
  clip,
  dropWords,
  emptyWords,
  fastWords,
  fillAll,
  hasBit,
  keepWords,
  loadBlock,
  offsetOf,
  offsetsOf,
  popCount,
  seqAt,
  sizeOf,
  type Words,
  withAll,
  withBit,
  withoutBit,
} from '../../../../src/store/bitmap/bit-block.js';

/** Edges of words, bytes and the block are picked often. */
const offset = fc.oneof(
  fc.nat(BLOCK_BITS - 1),
  fc.constantFrom(0, 1, 7, 8, 31, 32, 33, 63, 64, BLOCK_BITS - 33, BLOCK_BITS - 32, BLOCK_BITS - 1),
);

const ascending = (set: Iterable<number>) => [...set].sort((a, b) => a - b);

/** Bytes as the store gives them: in memory of its own, at whatever address. */
function stored(bytes: Buffer, shift = 0): Buffer {
  const memory = Buffer.alloc(bytes.length + shift + 8, 0xa5);
  bytes.copy(memory, shift);
  return memory.subarray(shift, shift + bytes.length);
}

function blockOfSet(set: Iterable<number>): Buffer | undefined {
  let bytes: Buffer | undefined;
  for (const member of set) {
    const changed = withBit(bytes, member);
    if (changed !== null) bytes = stored(changed);
  }
  return bytes;
}

/** Ordinary words, and two arrays of those that the kernel works on. */
const [ordinary, fast, otherFast] = [emptyWords(), fastWords(), fastWords()];

const wordsOf = (set: Iterable<number>, words = emptyWords()): Words => {
  words.fill(0);
  for (const member of set) words[member >> 5] = (words[member >> 5] ?? 0) | (1 << (member & 31));
  return words;
};

const membersOf = (words: Words) => offsetsOf(words, false, BLOCK_BITS);

const same = (words: Words, set: Iterable<number>) =>
  JSON.stringify(membersOf(words)) === JSON.stringify(ascending(set));

/** Sets of every density: a few members, a run around the change of form, nearly all. */
const set = fc.oneof(
  fc.uniqueArray(offset, { maxLength: 40 }),
  fc
    .record({ first: fc.nat(BLOCK_BITS - 2_000), count: fc.integer({ min: 850, max: 1_950 }) })
    .map(({ first, count }) => Array.from({ length: count }, (_, n) => first + n)),
  fc.integer({ min: 2, max: 9 }).map(step => {
    const members: number[] = [];
    for (let member = step - 1; member < BLOCK_BITS; member += step) members.push(member);
    return members;
  }),
);

const shift = fc.nat(7);

t.test('members come and go one by one, through every change of form', async t => {
  const change = fc.record({ isAdded: fc.boolean(), members: fc.array(offset, { maxLength: 30 }) });
  const run = fc.record({
    isAdded: fc.boolean(),
    first: fc.nat(BLOCK_BITS - 1_500),
    count: fc.integer({ min: 1, max: 1_400 }),
  });
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: change },
      {
        weight: 2,
        arbitrary: run.map(({ isAdded, first, count }) => ({
          isAdded,
          members: Array.from({ length: count }, (_, n) => first + n),
        })),
      },
    ),
    { maxLength: 12 },
  );
  const sizes = new Set<number>();
  fc.assert(
    fc.property(steps, shift, (changes, at) => {
      const model = new Set<number>();
      let bytes: Buffer | undefined;
      for (const { isAdded, members } of changes) {
        for (const member of members) {
          const changed = isAdded ? withBit(bytes, member) : withoutBit(bytes, member);
          const isSame = model.has(member) === isAdded;
          if ((changed === null) !== isSame) throw new Error(`null for ${member} says otherwise`);
          if (changed === null) continue;
          if (isAdded) model.add(member);
          else model.delete(member);
          bytes = changed === undefined ? undefined : stored(changed, at);
        }
        const words = emptyWords();
        if (bytes !== undefined) loadBlock(words, bytes);
        if (!same(words, model)) throw new Error('another set');
        if ((bytes === undefined) !== (model.size === 0)) throw new Error('an empty block is none');
        if (bytes !== undefined && sizeOf(bytes) !== model.size) throw new Error('another size');
        if (bytes !== undefined) sizes.add(bytes.length);
        for (const member of members.slice(0, 5)) {
          if (bytes !== undefined && hasBit(bytes, member) !== model.has(member)) throw new Error('hasBit');
        }
      }
    }),
    { numRuns: 150 },
  );
  t.ok(sizes.has(BLOCK_BITS / 8), 'as a map');
  t.ok(Math.min(...sizes) <= 60, 'as a list');
});

t.test('a change leaves the bytes that it was given as they were', async t => {
  for (const size of [1, 5, 3_000]) {
    const before = blockOfSet(Array.from({ length: size }, (_, n) => n * 3))!;
    const copy = Buffer.from(before);
    withBit(before, 1);
    withoutBit(before, 0);
    t.ok(before.equals(copy), `${size} members`);
  }
});

t.test('a block is loaded as it is, in any form at any address', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(set, set, shift, fc.boolean(), (one, two, at, isFast) => {
        const bytes = blockOfSet(two);
        if (bytes === undefined) return true;
        const loaded = wordsOf(one, isFast ? fast : ordinary);
        loadBlock(loaded, stored(bytes, at));
        return same(loaded, two);
      }),
    ),
  );
});

t.test('intersection and difference are those of sets, with the kernel and without', async t => {
  t.not(fast.buffer, ordinary.buffer);
  t.equal(fast.buffer, otherFast.buffer, 'there is a kernel here, and these two are its own');
  t.not(fast.byteOffset, otherFast.byteOffset);
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(set, set, fc.boolean(), fc.boolean(), (one, two, isIntoFast, isFast) => {
        const inTwo = new Set(two);
        const both = one.filter(member => inTwo.has(member));
        const rest = one.filter(member => !inTwo.has(member));
        const into = (): Words => wordsOf(one, isIntoFast ? fast : ordinary);
        const words = wordsOf(two, isFast ? otherFast : emptyWords());

        const hasKept = keepWords(into(), words) === both.length > 0;
        const isKept = same(isIntoFast ? fast : ordinary, both);
        const hasLeft = dropWords(into(), words) === rest.length > 0;
        const isLeft = same(isIntoFast ? fast : ordinary, rest);
        return hasKept && isKept && hasLeft && isLeft && same(words, two);
      }),
      { numRuns: 300 },
    ),
  );
});

t.test('clipping keeps what is between two offsets, wherever they lie', async t => {
  const edge = fc.oneof(offset, fc.constantFrom(-1_000_000, -1, 0, BLOCK_BITS, BLOCK_BITS + 1, 10_000_000));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(set, edge, edge, (members, first, end) => {
        fc.pre(first < end);
        const words = wordsOf(members);
        clip(words, first, end);
        return same(
          words,
          members.filter(member => member >= first && member < end),
        );
      }),
      { numRuns: 300 },
    ),
  );
});

t.test('two blocks become one that holds the members of both, in the form that fits', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(set, set, shift, shift, (one, two, atOne, atTwo) => {
        const [a, b] = [blockOfSet(one), blockOfSet(two)];
        if (b === undefined) return true;
        const union = withAll(a === undefined ? undefined : stored(a, atOne), stored(b, atTwo));
        const words = emptyWords();
        loadBlock(words, stored(union));
        const expected = new Set([...one, ...two]);
        const isMap = union.length === BLOCK_BITS / 8;
        return (
          same(words, expected) &&
          sizeOf(union) === expected.size &&
          (isMap || union.length === 2 * expected.size)
        );
      }),
      { numRuns: 150 },
    ),
  );
});

t.test('counts and walks in both directions, with a limit', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(set, fc.integer({ min: 0, max: 50 }), (members, limit) => {
        const words = wordsOf(members);
        const up = ascending(members);
        return (
          popCount(words) === members.length &&
          popCount(wordsOf(members, fast)) === members.length &&
          JSON.stringify(offsetsOf(words, false, limit)) === JSON.stringify(up.slice(0, limit)) &&
          JSON.stringify(offsetsOf(words, true, limit)) === JSON.stringify(up.toReversed().slice(0, limit))
        );
      }),
    ),
  );
  for (const full of [ordinary, fast]) {
    fillAll(full);
    t.equal(popCount(full), BLOCK_BITS);
  }
});

t.test('numbers of up to 48 bits have their block and offset', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.maxSafeNat().map(n => n % 2 ** 48),
        seq => {
          const [block, at] = [blockOf(seq), offsetOf(seq)];
          return at >= 0 && at < BLOCK_BITS && Number.isInteger(block) && seqAt(block, at) === seq;
        },
      ),
    ),
  );
});
