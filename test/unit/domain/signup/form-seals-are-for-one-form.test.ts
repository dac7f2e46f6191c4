import fc from 'fast-check';
import t from 'tap';
import { FormSeal } from '../../../../src/domain/secrets.js';

const NOW = Date.UTC(2026, 0, 15, 12);
const seals = new FormSeal(Buffer.from('secret of a store').toString('base64'));

t.test('a seal tells when it was made, to its purpose and browser only', async t => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.integer({ min: 0, max: 2 ** 45 }), (purpose, browser, nowMs) => {
      const seal = seals.seal(purpose, browser, nowMs);
      return (
        seals.sealedAt(seal, purpose, browser) === nowMs &&
        seals.sealedAt(seal, `${purpose}x`, browser) === null &&
        seals.sealedAt(seal, purpose, `x${browser}`) === null
      );
    }),
  );
  t.equal(seals.sealedAt(seals.seal('a', 'bc', NOW), 'ab', 'c'), null, 'parts do not run into each other');
});

t.test('nothing else is one', async t => {
  const seal = seals.seal('approve', 'browser', NOW);
  const [instant = '', mac = ''] = seal.split('.');
  const later = (NOW + 60_000).toString(36);
  for (const forged of [
    '',
    '.',
    mac,
    instant,
    `${later}.${mac}`,
    `${instant}.${mac.slice(1)}`,
    `${instant}.${mac}A`,
    `${seal}\n`,
    `${instant}.${'A'.repeat(43)}`,
    `zzzzzzzzzzzzzzzz.${mac}`,
  ]) {
    t.equal(seals.sealedAt(forged, 'approve', 'browser'), null, JSON.stringify(forged));
  }
  const others = new FormSeal(Buffer.from('another store').toString('base64'));
  t.equal(others.sealedAt(seal, 'approve', 'browser'), null, 'another store has another key');
});
