import t from 'tap';
import { BlobUploads } from '../../../../src/store/records/blob-upload.js';
import { releaseBlob, setBlobOwners } from '../../../../src/store/records/blobs.js';
import { listDue } from '../../../../src/store/records/pending.js';
import { withStore } from '../with-store.js';

for (const owners of [1, 2, 3, 7]) {
  t.test(`of ${owners}`, async t => {
    const store = await withStore(t);
    const blob = new BlobUploads(store).begin();
    blob.write(Buffer.from('shared'));
    await store.write(writer => setBlobOwners(writer, blob.finish(writer).id, owners));
    const due = () => store.read(reader => listDue(reader, 'purge-blob', 1000, 10));
    for (let left = owners - 1; left >= 0; left--) {
      await store.write(writer => releaseBlob(writer, blob.id, 1000));
      t.equal(due().length, left === 0 ? 1 : 0, `${left} owners are left`);
    }
    t.equal(due()[0]?.work.id, blob.id);
  });
}
