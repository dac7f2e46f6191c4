import fc from 'fast-check';
import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { checkIdempotencyKey as checkKey, intentDigest } from '../../../../src/domain/idempotency.js';

const checkIdempotencyKey = (key: string) => resultOf(() => checkKey(key));

const part = fc.oneof(fc.string(), fc.constant(null), fc.array(fc.string()));

t.test('two lists of parts have one digest exactly when they are equal', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.array(part), fc.array(part), (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        return (
          (intentDigest(one) === intentDigest(other)) === isSame &&
          intentDigest(one) === intentDigest([...one])
        );
      }),
    ),
  );
});

t.test('where one part ends and the next begins is part of it', async t => {
  const digests = [['ab', 'c'], ['a', 'bc'], ['abc'], ['ab', 'c', null], [['ab', 'c']], ['ab,c']].map(
    intentDigest,
  );
  t.equal(new Set(digests).size, digests.length);
});

t.test('a key has 1 to 128 letters, digits, hyphens and underscores', async t => {
  for (const key of ['a', 'A-b_9', 'x'.repeat(128)])
    t.strictSame(checkIdempotencyKey(key), { ok: true, value: key });
  for (const key of ['', 'x'.repeat(129), 'a b', 'a.b', 'é', 'a\n', ' a']) {
    t.match(
      checkIdempotencyKey(key),
      { ok: false, failure: { code: 'invalid_idempotency_key' } },
      JSON.stringify(key),
    );
  }
});
