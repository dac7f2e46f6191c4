import fc from 'fast-check';
import t from 'tap';
import { utf8End } from '../../../src/lib/bytes.js';

t.test('what is left is the longest beginning of whole characters that fits', async t => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, maxBytes) => {
      const bytes = Buffer.from(text);
      const end = utf8End(bytes, maxBytes);
      let expected = 0;
      for (const character of text) {
        const next = expected + Buffer.byteLength(character);
        if (next > maxBytes) break;
        expected = next;
      }
      return end === expected;
    }),
  );
  t.equal(utf8End(Buffer.from('é'), 1), 0);
  t.equal(utf8End(Buffer.alloc(0), 0), 0);
});
