import t from 'tap';
import { BlobUploads } from '../../../../src/store/records/blob-upload.js';
import { CHUNK_BYTES, removeChunks } from '../../../../src/store/records/blobs.js';
import { listDue, removePending } from '../../../../src/store/records/pending.js';
import { countChunks, countUploads, finish, pattern, upload } from '../with-blobs.js';
import { withStore } from '../with-store.js';

t.test('its chunks are due to be freed, whenever it is aborted', async t => {
  const store = await withStore(t);
  const uploads = new BlobUploads(store);
  for (const size of [0, 10, CHUNK_BYTES, 5 * CHUNK_BYTES + 1]) {
    const blob = uploads.begin();
    await upload(blob, [pattern(size)]);
    blob.abort();
    blob.abort();
    t.ok(blob.write(pattern(3 * CHUNK_BYTES)), 'a producer that goes on meanwhile is not held up');
    await blob.drained();
    await store.write(() => undefined);
    const due = store.read(reader => listDue(reader, 'purge-blob', Date.now(), 10));
    t.equal(due.length, size < 2 * CHUNK_BYTES ? 0 : 1, `${size} bytes`);
    await store.write(writer => {
      for (const { work } of due) removeChunks(writer, work.id, 1000);
    });
    t.equal(countChunks(store), 0, `${size} bytes`);
    t.equal(countUploads(store), 0);
    await store.write(writer => {
      for (const { work, dueAt } of due) removePending(writer, { kind: 'purge-blob', dueAt, id: work.id });
    });
  }
});

t.test('an upload whose end was refused can be aborted', async t => {
  const store = await withStore(t);
  const blob = new BlobUploads(store).begin();
  await upload(blob, [pattern(2 * CHUNK_BYTES + 5)]);
  const unit = store.write(writer => {
    blob.finish(writer);
    throw new Error('refused');
  });
  await t.rejects(unit, /refused/);
  t.equal(countUploads(store), 1);
  blob.abort();
  await store.write(() => undefined);
  t.equal(countUploads(store), 0);
  t.equal(store.read(reader => listDue(reader, 'purge-blob', Date.now(), 10)).length, 1);
});

t.test('aborting a finished one changes nothing', async t => {
  const store = await withStore(t);
  const blob = new BlobUploads(store).begin();
  await upload(blob, [pattern(2 * CHUNK_BYTES + 5)]);
  const ref = await finish(store, blob);
  blob.abort();
  await store.write(() => undefined);
  t.equal(countChunks(store, ref.id), 3);
  t.equal(store.read(reader => listDue(reader, 'purge-blob', Date.now(), 10)).length, 0);
});
