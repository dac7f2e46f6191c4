import fc from 'fast-check';
import t from 'tap';
import { idFromBytes, idToBytes, isUuid, newId, toId } from '../../../../src/domain/ids.js';

t.test('whatever the clock does, every id is greater than the one before', async t => {
  const start = Date.now();
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -100_000, max: 100_000 }), { minLength: 2 }), steps => {
        const ids = steps.map(step => newId(start + step) as string);
        return ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? ''));
      }),
    ),
  );
});

t.test('ten thousand of one millisecond are distinct and in order', async t => {
  const now = Date.now() + 1_000_000;
  const ids = Array.from({ length: 10_000 }, () => newId(now) as string);
  t.strictSame([...ids].sort(), ids);
  t.equal(new Set(ids).size, ids.length);
});

t.test('the order of bytes is the order of text', async t => {
  const ids = Array.from({ length: 1000 }, (_, n) => newId(Date.now() + 2_000_000 + (n % 7)) as string);
  const byBytes = [...ids].sort((a, b) => Buffer.compare(idToBytes(a), idToBytes(b)));
  t.strictSame(byBytes, ids);
  for (const id of ids.slice(0, 50))
    t.equal(idFromBytes(Buffer.concat([Buffer.of(9), idToBytes(id)]), 1), id);
});

t.test('an id is a UUID of version 7 and carries its instant', async t => {
  const now = Date.now() + 3_000_000;
  const id = newId(now) as string;
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), now);
});

t.test('from outside only the canonical lowercase form is an id', async t => {
  const id = newId(Date.now()) as string;
  t.equal(toId(id), id);
  const wrong = [
    '',
    id.toUpperCase(),
    ` ${id}`,
    `${id}\n`,
    id.replaceAll('-', ''),
    id.slice(1),
    `${id}0`,
    '-'.repeat(36),
  ];
  for (const text of wrong) t.equal(toId(text), null, JSON.stringify(text));
  t.ok(isUuid('00000000-0000-0000-0000-000000000000'));
});
