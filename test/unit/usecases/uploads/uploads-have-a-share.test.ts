import t from 'tap';
import { MAX_UPLOADS_BYTES } from '../../../../src/contract/limits.js';
import { RECORD_BYTES } from '../../../../src/store/records/storage.js';
import { createUpload, deleteUpload } from '../../../../src/usecases/uploads/file-uploads.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { countChunks, countUploads } from '../../store/with-blobs.js';
import { giveRoom, takeRoom } from '../../store/with-store.js';
import { DAY_MS, withHouse } from '../with-house.js';
import { faultsOf, incoming, upload, uploadDeps, usedBy } from './with-uploads.js';

const MIB = 2 ** 20;

t.test('an account has 64 MiB of uploads at most, however many come at once', async t => {
  const house = await withHouse(t);
  const accountId = house.account;
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      outcomeOf(() =>
        createUpload(uploadDeps(house), {
          accountId,
          // Half of them do not say how long they are.
          file: incoming(Buffer.alloc(5 * MIB, n), n % 2 === 0 ? null : 5 * MIB),
        }),
      ),
    ),
  );
  const taken = outcomes.filter(outcome => outcome.ok);
  t.equal(taken.length, 12);
  t.match(
    outcomes.find(outcome => !outcome.ok),
    { failure: { code: 'storage_limit_reached', message: /60\.0 MiB of uploads, of 64 MiB/ } },
  );
  t.same(usedBy(house), {
    stored: 12 * (5 * MIB + RECORD_BYTES),
    uploads: 12 * (5 * MIB + RECORD_BYTES),
  });
  await house.sweepAll();
  t.equal(countUploads(house.store), 0, 'the refused ones left nothing');
  t.same(faultsOf(house), []);
  const rest = MAX_UPLOADS_BYTES - 12 * (5 * MIB + RECORD_BYTES) - RECORD_BYTES;
  t.match(await outcomeOf(() => upload(house, Buffer.alloc(rest + 1))), { ok: false });
  t.match(await outcomeOf(() => upload(house, Buffer.alloc(rest))), { ok: true }, 'to the last byte');
  const stranger = await house.addAccount('stranger@elsewhere.example');
  t.match(await outcomeOf(() => upload(house, Buffer.alloc(MIB), stranger)), { ok: true });
  const [first] = taken;
  await deleteUpload(house, { accountId, uploadId: first?.ok === true ? first.value.upload_id : '' });
  t.match(await outcomeOf(() => upload(house, Buffer.alloc(4 * MIB))), { ok: true }, 'room again');
  house.now.ms += DAY_MS;
  await house.sweepAll();
  t.same(usedBy(house), { stored: 0, uploads: 0 });
  t.equal(countChunks(house.store), 0);
  t.same(faultsOf(house), []);
});

t.test('uploads count towards what the account may store', async t => {
  const house = await withHouse(t);
  const { account: accountId } = house;
  const deps = uploadDeps(house, 3);
  const store = (size: number) =>
    outcomeOf(() => createUpload(deps, { accountId, file: incoming(Buffer.alloc(size)) }));
  t.match(await store(2 * MIB), { ok: true });
  let isRead = false;
  const file = {
    declaredBytes: MIB,
    read: async () => {
      isRead = true;
    },
  };
  t.match(await outcomeOf(() => createUpload(deps, { accountId, file })), {
    failure: { code: 'storage_limit_reached', message: /of 3 MiB/ },
  });
  t.notOk(isRead, 'nothing is read of what cannot be taken');
  t.match(await store(MIB - 3 * RECORD_BYTES), { ok: true });
});

t.test('without room nothing is read, and a disk that fills meanwhile leaves nothing', async t => {
  const house = await withHouse(t);
  takeRoom(house.store);
  t.match(await outcomeOf(() => upload(house, Buffer.alloc(100))), {
    failure: { code: 'insufficient_room' },
  });
  giveRoom(house.store);
  const bytes = Buffer.alloc(MIB);
  const file = incoming(bytes);
  const outcome = await outcomeOf(() =>
    createUpload(uploadDeps(house), {
      accountId: house.account,
      file: {
        declaredBytes: null,
        read: async sink => {
          await file.read(sink);
          takeRoom(house.store);
        },
      },
    }),
  );
  t.match(outcome, { failure: { code: 'insufficient_room' } });
  giveRoom(house.store);
  await house.sweepAll();
  t.equal(countChunks(house.store), 0);
  t.equal(countUploads(house.store), 0);
  t.same(usedBy(house), { stored: 0, uploads: 0 });
  t.same(faultsOf(house), []);
});

t.test('a client that goes away in the middle leaves nothing', async t => {
  const house = await withHouse(t);
  const file = {
    declaredBytes: 5 * MIB,
    read: async (sink: { write(bytes: Uint8Array): boolean; drained(): Promise<void> }) => {
      for (let n = 0; n < 10; n++) if (!sink.write(Buffer.alloc(100_000))) await sink.drained();
      throw new Error('the client went away');
    },
  };
  const upload = createUpload(uploadDeps(house), { accountId: house.account, file });
  await t.rejects(upload, /went away/);
  await house.sweepAll();
  t.equal(countChunks(house.store), 0);
  t.same(usedBy(house), { stored: 0, uploads: 0 });
  t.same(faultsOf(house), []);
});

t.test('while the clock is in doubt no upload lapses', async t => {
  const house = await withHouse(t);
  const uploadId = await upload(house, Buffer.from('abc'));
  house.now.ms += 365 * DAY_MS;
  house.now.isInDoubt = true;
  await house.sweepAll();
  t.equal(usedBy(house).uploads, RECORD_BYTES + 3);
  await deleteUpload(house, { accountId: house.account, uploadId });
  t.equal(usedBy(house).uploads, 0, 'but it can be deleted');
  t.same(faultsOf(house), []);
});
