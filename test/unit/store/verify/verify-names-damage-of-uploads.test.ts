import t from 'tap';
import { type AccountId, newId, type UploadId } from '../../../../src/domain/ids.js';
import type { Writer } from '../../../../src/store/engine/tables.js';
import { blobChunksTable, blobOwnersTable } from '../../../../src/store/records/blobs.js';
import {
  addUpload,
  type FileUpload,
  fileUploadsTable,
  getUpload,
  redateUpload,
  uploadedBytesTable,
} from '../../../../src/store/records/file-uploads.js';
import { removePending } from '../../../../src/store/records/pending.js';
import { countStored } from '../../../../src/store/records/storage.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { upload } from '../../usecases/uploads/with-uploads.js';
import { withHouse } from '../../usecases/with-house.js';

const DAMAGES: readonly (readonly [string, (writer: Writer, upload: FileUpload) => void, RegExp])[] = [
  [
    'a file has lost a chunk',
    (writer, { blob }) => writer.remove(blobChunksTable, { id: blob.id, index: 1 }),
    /^missing: blob .* of 100000 bytes/,
  ],
  [
    'a file has more owners than there are',
    (writer, { blob }) => writer.put(blobOwnersTable, blob.id, 2),
    /^there without reason: blob .* of 100000 bytes/,
  ],
  [
    'an upload would never expire',
    (writer, { id, expiresAt }) => removePending(writer, { kind: 'expire-upload', dueAt: expiresAt, id }),
    /^missing: pending expiry of upload/,
  ],
  [
    'an upload expires at another time than it says',
    (writer, upload) => redateUpload(writer, upload, upload.expiresAt + 1),
    /^missing: pending expiry of upload/,
  ],
  [
    'an upload is gone and what was counted for it is not',
    (writer, upload) => writer.remove(fileUploadsTable, upload),
    /^there without reason: bytes of the uploads of account/,
  ],
  [
    'uploads are added up wrongly',
    (writer, { accountId }) => writer.put(uploadedBytesTable, accountId, 7),
    /^missing: bytes of the uploads of account .*: 101024/,
  ],
  [
    'stored bytes are added up wrongly',
    (writer, { accountId }) => countStored(writer, accountId, 7),
    /^missing: stored bytes of account/,
  ],
  [
    'an upload belongs to nobody',
    (writer, upload) => {
      const nobody = { accountId: newId<AccountId>(1), id: newId<UploadId>(1) };
      writer.put(blobOwnersTable, upload.blob.id, 2);
      addUpload(writer, { ...upload, ...nobody });
    },
    /^missing: account .* of upload/,
  ],
];

for (const [what, damage, name] of DAMAGES) {
  t.test(`verify says so when ${what}`, async t => {
    const house = await withHouse(t);
    const id = (await upload(house, Buffer.alloc(100_000))) as UploadId;
    t.match(verifyStore(house.store), { faults: [], checked: { uploads: 1 } });
    await house.store.write(writer => damage(writer, getUpload(writer, house.account, id)!));
    const { faults } = verifyStore(house.store);
    t.ok(
      faults.some(fault => name.test(fault)),
      `names it: ${faults.join('\n')}`,
    );
  });
}
