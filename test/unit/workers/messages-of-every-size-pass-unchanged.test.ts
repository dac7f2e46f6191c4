import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import type { ParseOutcome } from '../../../src/usecases/ports.js';
import { chunks, letter, small, startPool } from './with-pool.js';

const textOf = (outcome: ParseOutcome): unknown =>
  outcome.status === 'parsed' ? JSON.parse(Buffer.from(outcome.prepared.json).toString()).text : outcome;

t.test('however they are cut', async t => {
  const { pool } = await startPool(t);
  const sizes = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 200_000 }), fc.constant(65_536)),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(sizes, async pieceSizes => {
      const pieces = pieceSizes.map(bytes => randomBytes(bytes));
      const whole = Buffer.concat(pieces);
      const outcome = await pool.parse(small(whole, { bytes: chunks(...pieces) }));
      t.equal(textOf(outcome), createHash('sha256').update(whole).digest('hex'));
    }),
    { numRuns: 40 },
  );
});

t.test("the buffers of the source stay the caller's", async t => {
  const { pool } = await startPool(t);
  const own = new Uint8Array(100_000).fill(7);
  await pool.parse(letter(chunks(own, own)));
  t.equal(own.byteLength, 100_000);
  t.equal(own[99_999], 7);
});
