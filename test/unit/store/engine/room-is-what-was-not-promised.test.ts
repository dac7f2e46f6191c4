import t from 'tap';
import { NoRoomError, Room } from '../../../../src/store/engine/room.js';
import { linesTable } from '../lines.js';
import { giveRoom, takeRoom, withStore } from '../with-store.js';

const MIB = 2 ** 20;

/** A disk whose floor leaves about this much, and a file with so many free bytes. */
async function roomOf(t: Parameters<typeof withStore>[0], aboveBytes: number, freeBytes = 0) {
  const store = await withStore(t);
  const { diskFreeBytes } = store.room.sample();
  const usage = { reachedBytes: 64 * MIB, usedBytes: 64 * MIB - freeBytes };
  const room = new Room(
    { path: store.path, mapSizeBytes: 2 ** 42, diskFloorBytes: diskFreeBytes - aboveBytes },
    { reachedBytes: () => usage.reachedBytes, usedBytes: () => usage.usedBytes },
  );
  return { room, usage };
}

// What others write to this disk meanwhile must not decide a test.
const PLENTY = 16 * 1024 * MIB;

t.test('what mail was promised is for its parsing only', async t => {
  const { room } = await roomOf(t, PLENTY);
  t.ok(room.hasRoomFor(PLENTY / 2));
  room.owe(0.9 * PLENTY);
  t.notOk(room.hasRoomFor(PLENTY / 2), 'nothing new takes it');
  t.ok(room.hasRoomFor(PLENTY / 2, 'finish'), 'parsing does');
  const claim = room.claim();
  t.notOk(claim.growTo(PLENTY / 2), 'nor does mail on its way');
  room.owe(-0.9 * PLENTY);
  t.ok(claim.growTo(0.7 * PLENTY));
  t.notOk(room.hasRoomFor(PLENTY / 2));
  claim.release();
  t.ok(room.hasRoomFor(PLENTY / 2));
});

t.test('below the floor only what settles goes on', async t => {
  const { room } = await roomOf(t, -PLENTY);
  t.notOk(room.hasRoomFor(0));
  t.notOk(room.hasRoomFor(0, 'finish'));
  t.ok(room.hasRoomFor(MIB, 'settle'));
  t.throws(() => room.admit(0, 'add'), NoRoomError);
});

t.test('mail whose forerunners took more than was promised to them is parsed all the same', async t => {
  const { room } = await roomOf(t, 0);
  t.notOk(room.hasRoomFor(MIB), 'nothing new');
  t.ok(room.hasRoomFor(MIB, 'finish'), 'a little of the floor is lent');
  t.notOk(room.hasRoomFor(PLENTY, 'finish'), 'and no more');
});

t.test('free pages of the file are room below the floor, until the file grows all the same', async t => {
  const { room, usage } = await roomOf(t, -PLENTY, 48 * MIB);
  t.ok(room.hasRoomFor(16 * MIB));
  t.notOk(room.hasRoomFor(48 * MIB), 'not all of them count');
  const growth = PLENTY;
  usage.reachedBytes += growth;
  usage.usedBytes += growth;
  await looked();
  const hadRoom = room.hasRoomFor(MIB);
  usage.reachedBytes += 64 * growth;
  usage.usedBytes += 64 * growth;
  await looked();
  t.notOk(room.hasRoomFor(MIB), `its pages cannot be used (room before: ${hadRoom})`);
  usage.usedBytes -= 32 * MIB;
  await looked();
  t.ok(room.hasRoomFor(MIB), 'until more of them are free');
});

t.test('a unit without room is refused before it runs, and settling is not', async t => {
  const store = await withStore(t);
  takeRoom(store);
  let runs = 0;
  const unit = () => store.write(() => void runs++);
  await t.rejects(unit(), NoRoomError);
  t.equal(runs, 0);
  await store.write(writer => writer.put(linesTable, 'a', 'settled'), 'settle');
  giveRoom(store);
  await unit();
  t.equal(runs, 1);
  t.equal(store.room.owedBytes, 0);
});

t.test('what a unit owes counts once it is on disk, and not when it is refused', async t => {
  const store = await withStore(t);
  const refused = store.write(writer => {
    writer.owe(5);
    throw new Error('no');
  });
  await t.rejects(refused);
  t.equal(store.room.owedBytes, 0);
  await store.write(writer => writer.owe(5));
  t.equal(store.room.owedBytes, 5);
  await store.write(writer => writer.owe(-9));
  t.equal(store.room.owedBytes, 0, 'never less than nothing');
});

/** The next question looks anew. */
const looked = () => new Promise(resolve => setTimeout(resolve, 120));
