import fc from 'fast-check';
import t from 'tap';
import { joinKey, prefixEnd, text, u8, u32, u48 } from '../../../../src/store/engine/keys.js';

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

t.test('the end of a prefix is the first key behind all that start with it', async t => {
  const bytes = fc.uint8Array({ maxLength: 6 });
  t.doesNotThrow(
    holds(
      fc.property(bytes, bytes, bytes, (prefix, rest, other) => {
        const end = prefixEnd(prefix);
        if (end === null) return prefix.every(byte => byte === 0xff);
        const startsWithIt = Buffer.from(other.subarray(0, prefix.length)).equals(prefix);
        return (
          Buffer.compare(Buffer.concat([prefix, rest]), end) < 0 &&
          (startsWithIt || Buffer.compare(other, prefix) < 0 || Buffer.compare(other, end) >= 0)
        );
      }) as never,
    ),
  );
});
