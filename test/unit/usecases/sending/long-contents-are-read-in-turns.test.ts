import t from 'tap';
import { CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { readWhole } from '../../../../src/usecases/shared/contents.js';
import { finish, pattern, upload } from '../../store/with-blobs.js';
import { withHouse } from '../with-house.js';

const READERS = 50;

t.test('many long messages that are due at once hold the event loop no longer than one', async t => {
  const house = await withHouse(t);
  const bytes = pattern(5 * 2 ** 20);
  const blob = house.uploads.begin();
  const chunks = Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, at) =>
    bytes.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
  );
  await upload(blob, chunks);
  const ref = await finish(house.store, blob);
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const read = await Promise.all(Array.from({ length: READERS }, () => readWhole(house.store, ref)));
  isDone = true;
  t.ok(read.every(one => one.equals(bytes)));
  t.ok(turns >= READERS, `${turns} turns of the loop for others`);
});
