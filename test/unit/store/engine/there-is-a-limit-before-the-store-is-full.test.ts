import t from 'tap';
import { Room } from '../../../../src/store/engine/room.js';
import { BlobUploads } from '../../../../src/store/records/blob-upload.js';
import { CHUNK_BYTES, removeChunks } from '../../../../src/store/records/blobs.js';
import { linesTable } from '../lines.js';
import { finish, pattern, upload } from '../with-blobs.js';
import { dataDirectory, withStore } from '../with-store.js';

const MIB = 2 ** 20;

t.test('whoever asks first never meets a full map, and what is freed can be used again', async t => {
  const path = dataDirectory(t);
  const store = await withStore(t, { path, mapSizeBytes: 8 * MIB });
  const uploads = new BlobUploads(store);
  // A look of its own each time: the store's own looks again after a tenth of a second.
  const hasRoom = () =>
    new Room({ path, mapSizeBytes: 8 * MIB, diskFloorBytes: 0 }, store).hasRoomFor(CHUNK_BYTES);
  const fill = async () => {
    const ids = [];
    while (hasRoom()) {
      const blob = uploads.begin();
      await upload(blob, [pattern(CHUNK_BYTES)]);
      ids.push((await finish(store, blob)).id);
    }
    return ids;
  };
  let blobs = await fill();
  const first = blobs.length;
  t.ok(first > 80, `${first} blobs fit`);
  for (let round = 0; round < 2; round++) {
    for (const id of blobs) await store.write(writer => removeChunks(writer, id, 10));
    t.ok(hasRoom(), 'there is room again');
    blobs = await fill();
    t.ok(blobs.length > first * 0.8, `${blobs.length} blobs fit in round ${round}`);
  }
});

t.test('the end of the map is no cliff: what was asked for before it was reached is still kept', async t => {
  let alarms = 0;
  const path = dataDirectory(t);
  const store = await withStore(t, { path, mapSizeBytes: 2 * MIB, onFatal: () => void alarms++ });
  for (let n = 0; n < 6; n++)
    await store.write(writer => writer.put(linesTable, `line${n}`, 'x'.repeat(MIB)), 'settle');
  t.notOk(store.room.hasRoomFor(0));
  t.equal(alarms, 0);
  await store.close();
  const again = await withStore(t, { path, mapSizeBytes: 2 * MIB });
  for (let n = 0; n < 6; n++) t.equal(again.read(reader => reader.get(linesTable, `line${n}`))?.length, MIB);
});

t.test('the disk has a floor', async t => {
  const store = await withStore(t);
  const { diskFreeBytes } = store.room.sample();
  const usage = { reachedBytes: () => 0, usedBytes: () => 0 };
  const room = (diskFloorBytes: number) =>
    new Room({ path: store.path, mapSizeBytes: 2 ** 40, diskFloorBytes }, usage);
  t.ok(room(diskFreeBytes / 2).hasRoomFor(diskFreeBytes / 8));
  t.notOk(room(diskFreeBytes / 2).hasRoomFor(diskFreeBytes));
  t.notOk(room(diskFreeBytes * 2).hasRoomFor(0));
});

t.test('only a map that is nearly full is asked table by table', async t => {
  const store = await withStore(t);
  let questions = 0;
  const askTables = () => {
    questions++;
    return MIB;
  };
  const ask = (reachedBytes: number) => {
    const usage = { reachedBytes: () => reachedBytes, usedBytes: askTables };
    return new Room({ path: store.path, mapSizeBytes: 64 * MIB, diskFloorBytes: 0 }, usage).hasRoomFor(MIB);
  };
  t.ok(ask(30 * MIB));
  t.equal(questions, 0);
  t.ok(ask(63 * MIB), 'the file has been larger, but its pages are free');
  t.equal(questions, 1);
});
