import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { chunks, letter, MemorySink, startPool } from './with-pool.js';

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

t.test('however they are cut, there and back', async t => {
  const { pool } = await startPool(t);
  const sizes = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 200_000 }), fc.constant(65_536)),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(sizes, async pieceSizes => {
      const pieces = pieceSizes.map(size => randomBytes(size));
      const sink = new MemorySink();
      const outcome = await pool.parse(letter(chunks('copy ', ...pieces)), sink);
      if (outcome.status !== 'parsed') throw new Error(JSON.stringify(outcome));
      const [attachment] = sink.attachments;
      const sent = Buffer.concat([Buffer.from('copy '), ...pieces]);
      // The first chunk only tells the thread what to do, and is not copied.
      const copied = attachment?.bytes ?? Buffer.alloc(0);
      return (
        attachment?.size === copied.byteLength &&
        digest(sent.subarray(sent.length - copied.length)) === digest(copied)
      );
    }),
    { numRuns: 40 },
  );
});

t.test('attachments in pieces of all sizes arrive whole', async t => {
  const { parse } = await startPool(t);
  const sink = new MemorySink();
  await parse('attach', sink);
  const expected: Buffer[] = [];
  let size = 0;
  for (let piece = 1; size < 3_000_000; piece = (piece * 7 + 1) % 90_001) {
    expected.push(Buffer.alloc(piece, size % 251));
    size += piece;
  }
  t.equal(sink.attachments[0]?.size, size);
  t.equal(digest(sink.attachments[0]!.bytes), digest(Buffer.concat(expected)));
});

t.test("the buffers of the source stay the caller's", async t => {
  const { pool } = await startPool(t);
  const own = new Uint8Array(100_000).fill(7);
  await pool.parse(letter(chunks('copy ', own, own)), new MemorySink());
  t.equal(own.byteLength, 100_000);
  t.equal(own[99_999], 7);
});
