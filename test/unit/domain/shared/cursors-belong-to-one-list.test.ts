import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { CursorCodec } from '../../../../src/domain/paging.js';

const codec = new CursorCodec(randomBytes(32).toString('base64'));
const position = fc.integer({ min: 0, max: 2 ** 48 - 1 });

t.test('a cursor gives its position back to the list it came from', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string(), position, (scope, at) => codec.decode(scope, codec.encode(scope, at)) === at),
    ),
  );
});

t.test('another list makes nothing of it', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string(), fc.string(), position, (scope, other, at) => {
        fc.pre(scope !== other);
        return codec.decode(other, codec.encode(scope, at)) === null;
      }),
    ),
  );
});

t.test('any other character anywhere spoils it', async t => {
  const character = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(position, fc.nat(30), character, (at, index, replacement) => {
        const cursor = codec.encode('list', at);
        const forged = cursor.slice(0, index) + replacement + cursor.slice(index + 1);
        return codec.decode('list', forged) === (forged === cursor ? at : null);
      }),
      { numRuns: 1000 },
    ),
  );
});

t.test('even the bits of its last character that mean nothing', async t => {
  const cursor = codec.encode('list', 7);
  const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const accepted = [...last].filter(char => codec.decode('list', cursor.slice(0, -1) + char) !== null);
  t.strictSame(accepted, [cursor.at(-1)]);
});

t.test('nonsense and the cursors of another store are refused', async t => {
  const other = new CursorCodec(randomBytes(32).toString('base64'));
  t.equal(codec.decode('list', other.encode('list', 7)), null);
  const cursor = codec.encode('list', 7);
  for (const text of [
    '',
    'x',
    '%00',
    `${cursor}A`,
    cursor.slice(1),
    `${cursor}=`,
    ` ${cursor}`,
    'é'.repeat(31),
  ]) {
    t.equal(codec.decode('list', text), null, JSON.stringify(text));
  }
});

t.test('a text comes back as it was, up to a label of 128 bytes, and only to its list', async t => {
  const label = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 128 })
    .filter(text => text.isWellFormed() && Buffer.byteLength(text) <= 128);
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string(), label, (scope, text) => {
        const cursor = codec.encodeText(scope, text);
        return (
          codec.decodeText(scope, cursor) === text &&
          codec.decodeText(`${scope}x`, cursor) === null &&
          encodeURIComponent(cursor) === cursor
        );
      }),
    ),
  );
  for (const text of ['x'.repeat(128), '\u{1f600}'.repeat(32)]) {
    t.equal(codec.decodeText('labels', codec.encodeText('labels', text)), text);
  }
  t.equal(codec.decodeText('labels', 'nonsense'), null);
});

t.test('a text of another length is no number', async t => {
  t.equal(codec.decode('list', codec.encodeText('list', 'seven')), null);
  t.equal(codec.decode('list', codec.encodeText('list', 'label of many bytes')), null);
});
