import fc from 'fast-check';
import t from 'tap';
import { jsonOfTexts } from '../../../src/lib/json-texts.js';
import { atOnce } from '../../support/at-once.js';

t.test('the bytes are those of JSON.stringify, whatever the texts and their lengths', async t => {
  const unit = fc.constantFrom('a', '"', '\\', '\u0001', 'é', '😀', '\ud83d', '\n');
  const text = fc
    .tuple(fc.string({ unit }), fc.integer({ min: 0, max: 5 }), fc.integer({ min: -3, max: 3 }))
    .map(([some, pieces, more]) => some + 'x'.repeat(Math.max(0, pieces * 65_536 + more)) + some);
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.dictionary(fc.string(), text, { maxKeys: 3 }), texts => {
        const own = Object.fromEntries(Object.entries(texts));
        return atOnce(jsonOfTexts(own)).equals(Buffer.from(JSON.stringify(own)));
      }),
      { numRuns: 50 },
    ),
  );
});

t.test('no character is cut in two where pieces meet', async t => {
  const text = `${'x'.repeat(65_535)}😀${'y'.repeat(10)}`;
  t.equal(atOnce(jsonOfTexts({ text })).toString(), JSON.stringify({ text }));
  t.equal(atOnce(jsonOfTexts({})).toString(), '{}');
});
