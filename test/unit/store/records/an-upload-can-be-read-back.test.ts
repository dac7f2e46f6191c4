import fc from 'fast-check';
import t from 'tap';
import type { Reader } from '../../../../src/store/engine/tables.js';
import { type BlobUpload, BlobUploads } from '../../../../src/store/records/blob-upload.js';
import { blobChunksTable, CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { finish, pattern, readAll, upload } from '../with-blobs.js';
import { withStore } from '../with-store.js';

function readBack(reader: Reader, blob: BlobUpload): Buffer {
  const chunks: Uint8Array[] = [];
  for (let chunk = blob.chunkAt(reader, 0); chunk !== null; chunk = blob.chunkAt(reader, chunks.length)) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

t.test('in a unit of work, and behind one, all that was written is there', async t => {
  const store = await withStore(t);
  const uploads = new BlobUploads(store);
  const size = fc.oneof(
    fc.nat(100),
    fc.integer({ min: CHUNK_BYTES - 2, max: CHUNK_BYTES + 2 }),
    fc.nat(200_000),
  );
  await t.resolves(
    fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 8 }), async sizes => {
        const bytes = pattern(sizes.reduce((sum, one) => sum + one, 0));
        let at = 0;
        const pieces = sizes.map(one => {
          at += one;
          return new Uint8Array(bytes.subarray(at - one, at));
        });
        const blob = uploads.begin();
        await upload(blob, pieces);
        const inside = await store.write(writer => readBack(writer, blob));
        const behind = store.read(reader => readBack(reader, blob));
        const stored = await readAll(store, await finish(store, blob));
        return [inside, behind, stored].every(read => read.equals(bytes));
      }),
      { numRuns: 60 },
    ),
  );
});

t.test('an upload that failed says why', async t => {
  const store = await withStore(t);
  const blob = new BlobUploads(store).begin();
  await upload(blob, [pattern(10 * CHUNK_BYTES)]);
  await store.write(writer => writer.remove(blobChunksTable, { id: blob.id, index: 3 }));
  await t.rejects(
    store.write(writer => readBack(writer, blob)),
    /chunk 3 of upload/,
  );
  blob.abort();
});
