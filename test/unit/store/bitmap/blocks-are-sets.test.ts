import fc from 'fast-check';
import t from 'tap';
import {
  BLOCK_BITS,
  BLOCK_WORDS,
  blockOf,
  blockOfBytes,
  bytesOfBlock,
  hasBit,
  type LentBlock,
  membersOf,
  type OwnBlock,
  offsetOf,
  ownBlock,
  seqAt,
  sizeOf,
  withAll,
  withBit,
  withoutBit,
} from '../../../../src/store/bitmap/bit-block.js';
import { startWordKernel } from '../../../../src/store/bitmap/word-kernel.js';
import { WordMemory, type Words } from '../../../../src/store/bitmap/words.js';

/** Edges of words, bytes and the block are picked often. */
const offset = fc.oneof(
  fc.nat(BLOCK_BITS - 1),
  fc.constantFrom(0, 1, 7, 8, 31, 32, 33, 63, 64, BLOCK_BITS - 33, BLOCK_BITS - 32, BLOCK_BITS - 1),
);

const ascending = (set: Iterable<number>) => [...set].sort((a, b) => a - b);

/** A block as the store gives it: in memory of its own, at whatever address. */
function stored(block: LentBlock, shift = 0): LentBlock {
  const bytes = bytesOfBlock(block);
  const memory = Buffer.alloc(bytes.length + shift + 8, 0xa5);
  bytes.copy(memory, shift);
  return blockOfBytes(memory.subarray(shift, shift + bytes.length));
}

function blockOfSet(set: Iterable<number>): OwnBlock | undefined {
  let block: OwnBlock | undefined;
  for (const member of set) {
    const changed = withBit(block, member);
    if (changed !== null) block = ownBlock(changed);
  }
  return block;
}

/** One that the kernel works on, and one for where there is none. */
const fast = new WordMemory(3);
const plain = new WordMemory(3, null);
/** Places in either. */
const [one, other] = [fast.result, fast.missed];

/** As a map, whatever its size. */
function putSet(memory: WordMemory, into: Words, set: Iterable<number>): Words {
  const words = new Uint32Array(BLOCK_WORDS);
  for (const member of set) words[member >> 5] = (words[member >> 5] ?? 0) | (1 << (member & 31));
  memory.load(into, blockOfBytes(Buffer.from(words.buffer)));
  return into;
}

const same = (memory: WordMemory, words: Words, set: Iterable<number>) =>
  JSON.stringify(memory.list(words, false, BLOCK_BITS)) === JSON.stringify(ascending(set));

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
      let block: LentBlock | undefined;
      for (const { isAdded, members } of changes) {
        for (const member of members) {
          const changed = isAdded ? withBit(block, member) : withoutBit(block, member);
          const isSame = model.has(member) === isAdded;
          if ((changed === null) !== isSame) throw new Error(`null for ${member} says otherwise`);
          if (changed === null) continue;
          if (isAdded) model.add(member);
          else model.delete(member);
          block = changed === undefined ? undefined : stored(changed, at);
        }
        const found = block === undefined ? [] : membersOf(block);
        if (JSON.stringify(found) !== JSON.stringify(ascending(model))) throw new Error('another set');
        if ((block === undefined) !== (model.size === 0)) throw new Error('an empty block is none');
        if (block === undefined) continue;
        if (sizeOf(block) !== model.size) throw new Error('another size');
        sizes.add(bytesOfBlock(block).length);
        for (const member of members.slice(0, 5)) {
          if (hasBit(block, member) !== model.has(member)) throw new Error('hasBit');
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
    const copy = Buffer.from(bytesOfBlock(before));
    withBit(before, 1);
    withoutBit(before, 0);
    t.ok(bytesOfBlock(before).equals(copy), `${size} members`);
  }
});

t.test('a block is loaded as it is, in any form at any address', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(set, set, shift, fc.boolean(), (before, members, at, isFast) => {
        const memory = isFast ? fast : plain;
        const block = blockOfSet(members);
        if (block === undefined) return true;
        putSet(memory, one, before);
        memory.load(one, stored(block, at));
        return same(memory, one, members);
      }),
    ),
  );
});

t.test('intersection and difference are those of sets, with the kernel and without', async t => {
  t.not(startWordKernel(BLOCK_WORDS * 4, 1), null, 'there is a kernel here');
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(set, set, fc.boolean(), (first, second, isFast) => {
        const memory = isFast ? fast : plain;
        const inSecond = new Set(second);
        const both = first.filter(member => inSecond.has(member));
        const rest = first.filter(member => !inSecond.has(member));
        const words = putSet(memory, other, second);

        const hasKept = memory.keep(putSet(memory, one, first), words) === both.length > 0;
        const isKept = same(memory, one, both);
        const hasLeft = memory.drop(putSet(memory, one, first), words) === rest.length > 0;
        const isLeft = same(memory, one, rest);
        return hasKept && isKept && hasLeft && isLeft && same(memory, words, second);
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
        putSet(fast, other, members);
        fast.copy(one, other);
        fast.clip(one, first, end);
        return (
          same(
            fast,
            one,
            members.filter(member => member >= first && member < end),
          ) && same(fast, other, members)
        );
      }),
      { numRuns: 300 },
    ),
  );
});

t.test('two blocks become one that holds the members of both, in the form that fits', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(set, set, shift, shift, (first, second, atOne, atTwo) => {
        const [a, b] = [blockOfSet(first), blockOfSet(second)];
        if (b === undefined) return true;
        const union = withAll(a === undefined ? undefined : stored(a, atOne), stored(b, atTwo) as OwnBlock);
        const expected = new Set([...first, ...second]);
        const { length } = bytesOfBlock(union);
        const isMap = length === BLOCK_BITS / 8;
        return (
          JSON.stringify(membersOf(stored(union))) === JSON.stringify(ascending(expected)) &&
          sizeOf(union) === expected.size &&
          (isMap || length === 2 * expected.size)
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
        const words = putSet(fast, one, members);
        const up = ascending(members);
        return (
          fast.count(words) === members.length &&
          plain.count(putSet(plain, one, members)) === members.length &&
          JSON.stringify(fast.list(words, false, limit)) === JSON.stringify(up.slice(0, limit)) &&
          JSON.stringify(fast.list(words, true, limit)) === JSON.stringify(up.toReversed().slice(0, limit))
        );
      }),
    ),
  );
  for (const memory of [plain, fast]) {
    memory.fill(one);
    t.equal(memory.count(one), BLOCK_BITS);
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
