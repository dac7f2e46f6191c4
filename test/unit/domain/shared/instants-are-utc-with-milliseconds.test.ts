import fc from 'fast-check';
import t from 'tap';
import { toInstant } from '../../../../src/domain/instants.js';

t.test('every service instant has the pattern of the contract', async t => {
  t.equal(toInstant(0), '1970-01-01T00:00:00.000Z');
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), ms => {
        const text = toInstant(ms);
        return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(text) && Date.parse(text) === ms;
      }),
    ),
  );
});

t.test('whichever instant was written before', async t => {
  const near = fc.integer({ min: -3_000, max: 3_000 });
  const any = fc.integer({ min: -8.64e15, max: 8.64e15 });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.array(fc.oneof(near, any)), instants =>
        instants.every(ms => toInstant(ms) === new Date(ms).toISOString()),
      ),
    ),
  );
});
