import fc from 'fast-check';
import t from 'tap';
import { BlobUploads } from '../../../../src/store/records/blob-upload.js';
import { CHUNK_BYTES, chunkCount } from '../../../../src/store/records/blobs.js';
import { countChunks, countUploads, finish, pattern, readAll, upload } from '../with-blobs.js';
import { withStore } from '../with-store.js';

t.test('in whatever pieces it came', async t => {
  const store = await withStore(t);
  const uploads = new BlobUploads(store);
  const size = fc.oneof(
    fc.nat(100),
    fc.integer({ min: CHUNK_BYTES - 2, max: CHUNK_BYTES + 2 }),
    fc.constantFrom(2 * CHUNK_BYTES, 3 * CHUNK_BYTES - 1),
    fc.nat(3 * CHUNK_BYTES),
  );
  await t.resolves(
    fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 8 }), async sizes => {
        const bytes = pattern(sizes.reduce((sum, one) => sum + one, 0));
        const pieces: Uint8Array[] = [];
        let at = 0;
        for (const one of sizes) {
          pieces.push(new Uint8Array(bytes.subarray(at, at + one)));
          at += one;
        }
        const blob = uploads.begin();
        await upload(blob, pieces);
        const ref = await finish(store, blob);
        return (
          ref.size === bytes.length &&
          (await readAll(store, ref)).equals(bytes) &&
          countChunks(store, ref.id) === Math.max(1, chunkCount(bytes.length))
        );
      }),
      { numRuns: 60 },
    ),
  );
  t.equal(countUploads(store), 0);
});

t.test('a blob of less than a chunk is one put, in the unit that makes it reachable', async t => {
  const store = await withStore(t);
  const blob = new BlobUploads(store).begin();
  for (const byte of pattern(5_000)) blob.write(Uint8Array.of(byte));
  const inside = await store.write(writer => {
    t.equal(countUploads(store), 0);
    t.equal(countChunks(store), 0);
    return blob.finish(writer);
  });
  t.equal(countChunks(store, inside.id), 1);
  t.ok((await readAll(store, inside)).equals(pattern(5_000)));
});

t.test('an empty blob is there, and empty', async t => {
  const store = await withStore(t);
  const ref = await finish(store, new BlobUploads(store).begin());
  t.equal(ref.size, 0);
  t.equal((await readAll(store, ref)).length, 0);
  t.equal(countChunks(store, ref.id), 1);
});

t.test('small pieces are copied: a sender that drips bytes holds no buffer for each', async t => {
  const store = await withStore(t);
  const blob = new BlobUploads(store).begin();
  const bytes = pattern(2 * CHUNK_BYTES + 77);
  const one = Buffer.alloc(1);
  for (const byte of bytes) {
    one[0] = byte;
    if (!blob.write(one)) await blob.drained();
  }
  t.ok((await readAll(store, await finish(store, blob))).equals(bytes));
});
