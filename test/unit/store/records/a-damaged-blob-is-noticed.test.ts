import t from 'tap';
import { BlobUploads } from '../../../../src/store/records/blob-upload.js';
import { BlobMissingError, blobChunksTable, CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { finish, pattern, readAll, upload } from '../with-blobs.js';
import { withStore } from '../with-store.js';

t.test('reading stops at the chunk that is missing', async t => {
  const store = await withStore(t);
  const blob = new BlobUploads(store).begin();
  await upload(blob, [pattern(3 * CHUNK_BYTES)]);
  const ref = await finish(store, blob);
  await store.write(writer => writer.remove(blobChunksTable, { id: ref.id, index: 1 }));
  await t.rejects(readAll(store, ref), BlobMissingError);
});
