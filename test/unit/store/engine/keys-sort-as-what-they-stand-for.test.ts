import fc from 'fast-check';
import t from 'tap';
import { joinKey, type KeyRange, range, text, u8, u32, u48 } from '../../../../src/store/engine/keys.js';

const holds = (property: fc.IProperty<never>) => () => fc.assert(property as fc.IProperty<unknown>);

t.test('numbers of every width sort as bytes do', async t => {
  for (const [encode, bits] of [
    [u8, 8],
    [u32, 32],
    [u48, 48],
  ] as const) {
    const number = fc.integer({ min: 0, max: 2 ** bits - 1 });
    t.doesNotThrow(
      holds(
        fc.property(
          number,
          number,
          (a, b) => Math.sign(Buffer.compare(encode(a), encode(b))) === Math.sign(a - b),
        ) as never,
      ),
      `${bits} bits`,
    );
  }
});

t.test('what does not fit into 48 bits is refused', async t => {
  for (const value of [-1, 1.5, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY])
    t.throws(() => u48(value), RangeError);
  t.equal(u48(2 ** 48 - 1).toString('hex'), 'ffffffffffff');
});

t.test('joined keys sort by their first part that differs', async t => {
  const key = fc.tuple(fc.nat(255), fc.nat(2 ** 32 - 1), fc.string());
  t.doesNotThrow(
    holds(
      fc.property(key, key, (a, b) => {
        const encode = ([one, two, three]: [number, number, string]) =>
          joinKey(u8(one), u32(two), text(three));
        const expected = a[0] - b[0] || a[1] - b[1] || Buffer.compare(Buffer.from(a[2]), Buffer.from(b[2]));
        return Math.sign(Buffer.compare(encode(a), encode(b))) === Math.sign(expected);
      }) as never,
    ),
  );
});

const bytes = fc.uint8Array({ maxLength: 6 }).map(array => Buffer.from(array));
const isWithin = (key: Buffer, { from, to }: KeyRange): boolean =>
  Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0;

t.test('the end of a prefix is the first key behind all that start with it', async t => {
  t.doesNotThrow(
    holds(
      fc.property(bytes, bytes, bytes, (prefix, rest, other) => {
        const { to } = range(prefix);
        if (prefix.every(byte => byte === 0xff)) return Buffer.compare(other, to) < 0;
        const startsWithIt = other.subarray(0, prefix.length).equals(prefix);
        return (
          Buffer.compare(Buffer.concat([prefix, rest]), to) < 0 &&
          (startsWithIt || Buffer.compare(other, prefix) < 0 || Buffer.compare(other, to) >= 0)
        );
      }) as never,
    ),
  );
});

t.test('a range holds exactly the keys of its prefix, those behind `after` and before `before`', async t => {
  const key = bytes.filter(one => one.length > 0);
  t.doesNotThrow(
    holds(
      fc.property(bytes, key, key, key, (prefix, other, one, another) => {
        const [first, second] = [Buffer.concat([prefix, one]), Buffer.concat([prefix, another])];
        const startsWithIt = other.subarray(0, prefix.length).equals(prefix);
        return (
          isWithin(other, range(prefix)) === startsWithIt &&
          isWithin(first, range(prefix)) &&
          isWithin(first, range(prefix, second)) === Buffer.compare(first, second) > 0 &&
          isWithin(first, range(prefix, null, second)) === Buffer.compare(first, second) < 0
        );
      }) as never,
    ),
  );
});
