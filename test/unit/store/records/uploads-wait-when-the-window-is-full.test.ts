import t from 'tap';
import { StoreClosedError } from '../../../../src/store/engine/store.js';
import { BlobUploads } from '../../../../src/store/records/blob-upload.js';
import { CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { finish, pattern, readAll } from '../with-blobs.js';
import { withStore } from '../with-store.js';

const MIB = 1024 * 1024;
const chunk = () => pattern(CHUNK_BYTES);

t.test('one upload has at most a mebibyte under way', async t => {
  const store = await withStore(t);
  const uploads = new BlobUploads(store);
  const blob = uploads.begin();
  let written = 0;
  do written += CHUNK_BYTES;
  while (blob.write(chunk()));
  t.ok(written >= MIB && written < MIB + CHUNK_BYTES, `${written} bytes`);
  await blob.drained();
  t.ok(blob.write(chunk()), 'there is room again');
  const ref = await finish(store, blob);
  t.equal((await readAll(store, ref)).length, written + CHUNK_BYTES);
});

t.test('all uploads together have at most four, and none waits for ever', async t => {
  const store = await withStore(t);
  const uploads = new BlobUploads(store);
  const blobs = Array.from({ length: 20 }, () => uploads.begin());
  let written = 0;
  let isOpen = true;
  while (isOpen) {
    for (const blob of blobs) {
      if (uploads.isFull) break;
      blob.write(chunk());
      written += CHUNK_BYTES;
    }
    isOpen = !uploads.isFull;
  }
  t.ok(written >= 4 * MIB && written < 4 * MIB + CHUNK_BYTES, `${written} bytes`);
  const late = uploads.begin();
  t.ok(late.write(pattern(100)), 'an upload with nothing under way goes on');
  t.notOk(late.write(chunk()), 'and then waits like the others');
  await Promise.all([late, ...blobs].map(blob => blob.drained()));
  t.notOk(uploads.isFull);
  await Promise.all([late, ...blobs].map(blob => finish(store, blob)));
});

t.test('a chunk that cannot be written fails whoever waits', async t => {
  const store = await withStore(t);
  const blob = new BlobUploads(store).begin();
  while (blob.write(chunk()));
  await blob.drained();
  await store.close();
  while (blob.write(chunk()));
  await t.rejects(blob.drained(), StoreClosedError);
  blob.abort();
});
