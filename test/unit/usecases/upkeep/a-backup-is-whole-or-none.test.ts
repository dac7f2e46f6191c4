import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { readManifest } from '../../../../src/store/backup/manifest.js';
import { checkSums, openBackup } from '../../../../src/store/backup/open-backup.js';
import { getMeta, Presence, putMeta } from '../../../../src/store/engine/meta.js';
import { getMessage } from '../../../../src/store/mailbox/messages.js';
import { openStoreReadOnly } from '../../../../src/store/open-store.js';
import { makeOwnFolder } from '../../../../src/store/own-folder.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { deleteMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { backUp } from '../../../../src/usecases/upkeep/back-up.js';
import { removeLeftovers } from '../../../../src/usecases/upkeep/claim-store.js';
import { dataDirectory } from '../../store/with-store.js';
import { type House, withHouse } from '../with-house.js';
import { backUpInto, backupFolder, restoredFrom, restoreInto } from './with-backups.js';

const MARK = 'a-word-in-the-mail';
const letter = (bytes: number): string => `Subject: ${MARK}\r\n\r\n${'x'.repeat(bytes)}\r\n`;

const erase = (house: House, messageId: string): Promise<unknown> =>
  deleteMessage(house, { accountId: house.account, messageId, kind: 'received' });

async function faultsOf(folder: string): Promise<readonly string[]> {
  const backup = openBackup(folder);
  try {
    return [...checkSums(folder, backup), ...verifyStore(backup.store, backup.isListed).faults];
  } finally {
    await backup.store.close();
  }
}

t.test('the next run copies what is new, and what was deleted is no longer in it', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const folder = backupFolder(t);
  const gone = await house.receive(letter(200_000), inbox);
  const kept = await house.receive(letter(300), inbox);
  const first = await backUpInto(house, folder);
  t.ok(first.copiedBlobBytes > 200_000);
  t.same(await faultsOf(folder), []);
  t.match(
    house.store.read(reader => getMeta(reader, 'lastBackup')),
    { path: folder },
  );
  t.equal(
    house.store.read(reader => getMeta(reader, 'backup')),
    undefined,
  );

  await erase(house, gone);
  await house.sweepAll();
  const late = await house.receive(letter(70_000), inbox);
  const second = await backUpInto(house, folder);
  t.ok(second.copiedBlobBytes > 70_000 && second.copiedBlobBytes < 200_000, 'only what is new');
  t.ok(second.manifest.blobs.count < first.manifest.blobs.count + 2);
  t.same(await faultsOf(folder), []);
  const { store } = await restoredFrom(t, house);
  store.read(reader => {
    t.same(
      [gone, kept, late].map(id => getMessage(reader, id) !== undefined),
      [false, true, true],
    );
  });
  t.equal(statSync(folder).mode & 0o777, 0o700);
  for (const name of [
    'manifest.json',
    'blobs/store/data.mdb',
    `${second.manifest.snapshot}/store/data.mdb`,
  ]) {
    t.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
  }
});

t.test('the backup from before is good until the next is complete', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const folder = backupFolder(t);
  const kept = await house.receive(letter(100_000), inbox);
  await backUpInto(house, folder);
  const manifest = readFileSync(join(folder, 'manifest.json'));
  const [snapshot = ''] = readdirSync(folder).filter(name => name.startsWith('snapshot'));
  cpSync(join(folder, snapshot), join(folder, 'aside'), { recursive: true });
  await erase(house, kept);
  const late = await house.receive(letter(100_000), inbox);
  await backUpInto(house, folder);
  // As it is when a run ends just before it replaces the manifest: both snapshots, and the blobs of both.
  for (const name of readdirSync(folder)) {
    if (name.startsWith('snapshot')) renameSync(join(folder, name), join(folder, 'snapshot-9'));
  }
  renameSync(join(folder, 'aside'), join(folder, snapshot));
  writeFileSync(join(folder, 'manifest.json'), manifest);
  t.same(await faultsOf(folder), [], 'blobs of the next one are no fault of this one');
  const path = dataDirectory(t);
  t.equal((await restoreInto(path, folder)).messages, 1);
  await backUpInto(house, folder);
  t.notOk(existsSync(join(folder, 'snapshot-9')), 'the next run takes away what was left');
  t.same(await faultsOf(folder), []);
  t.ok(late);
});

t.test('changed bytes are found, and nothing is restored of them', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  await house.receive(letter(200_000), inbox);
  const files = [{ path: '/etc/postern/postern.toml', bytes: Buffer.from('[mail]\n') }];
  for (const part of ['blobs', 'records', 'files'] as const) {
    const folder = backupFolder(t);
    const { manifest } = await backUpInto(house, folder, files);
    const file = {
      blobs: join(folder, 'blobs/store/data.mdb'),
      records: join(folder, manifest.snapshot, 'store/data.mdb'),
      files: join(folder, manifest.snapshot, 'files/0-postern.toml'),
    }[part];
    damage(file, part === 'blobs' ? Buffer.from('xxxxxxxx') : null);
    t.ok((await faultsOf(folder).catch((error: Error) => [error.message])).length > 0, part);
    if (part === 'files') continue;
    const path = dataDirectory(t);
    await t.rejects(restoreInto(path, folder), {
      name: 'BackupUnusableError',
      message: /Nothing was restored/,
    });
    t.same(
      readdirSync(path).filter(name => name !== 'restoring'),
      [],
    );
  }
});

t.test('a file that was cut off is found out, and ends no process', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  await house.receive(letter(3_000_000), inbox);
  for (const part of ['blobs', 'records'] as const) {
    const folder = backupFolder(t);
    const { manifest } = await backUpInto(house, folder);
    const file = join(folder, part === 'blobs' ? part : manifest.snapshot, 'store/data.mdb');
    truncateSync(file, 5 * 4096);
    const path = dataDirectory(t);
    await t.rejects(restoreInto(path, folder), {
      name: 'BackupUnusableError',
      message: /written with \d+ bytes, and 20480 are left/,
    });
    t.strictSame(readdirSync(path), []);
  }
});

/** Changes one byte: behind the last place of these bytes, or in the middle. */
function damage(file: string, after: Buffer | null): void {
  const bytes = readFileSync(file);
  const at = after === null ? bytes.length >> 1 : bytes.lastIndexOf(after);
  const handle = openSync(file, 'r+');
  const one = Buffer.alloc(1);
  readSync(handle, one, 0, 1, at);
  writeSync(handle, Buffer.of((one[0] ?? 0) ^ 1), 0, 1, at);
  closeSync(handle);
}

t.test('a folder that is none, or of another store, is refused', async t => {
  const house = await withHouse(t);
  const other = await withHouse(t);
  const folder = backupFolder(t);
  mkdirSync(folder);
  writeFileSync(join(folder, 'holiday.jpg'), '');
  chmodSync(folder, 0o755);
  await t.rejects(backUpInto(house, folder), /not empty/);
  t.equal(statSync(folder).mode & 0o777, 0o755, 'it stays open to others');
  await t.rejects(backUpInto(house, join(folder, 'holiday.jpg')), /cannot be used for a backup/);
  const mine = backupFolder(t);
  await backUpInto(house, mine);
  await t.rejects(backUpInto(other, mine), /of another store/);
  t.throws(() => readManifest(folder), { name: 'BackupUnusableError', message: /no backup/ });
  await t.rejects(restoreInto(dataDirectory(t), folder), /no backup/);
});

t.test('one that was never finished, or is of a newer program, is refused in words', async t => {
  const house = await withHouse(t);
  const folder = backupFolder(t);
  const { manifest } = await backUpInto(house, folder);
  const place = join(folder, 'manifest.json');
  for (const [change, words] of [
    [{ format: 2 }, /format 2.*version 1\.2\.3/],
    [{ schema: 999 }, /schema 999.*version 1\.2\.3/],
    [{ program: 'else' }, /damaged/],
  ] as const) {
    writeFileSync(place, JSON.stringify({ ...manifest, ...change }));
    await t.rejects(restoreInto(dataDirectory(t), folder), words);
  }
  renameSync(place, join(folder, 'unfinished.json'));
  await t.rejects(restoreInto(dataDirectory(t), folder), /never finished/);
});

t.test('a restore fills an empty directory only', async t => {
  const house = await withHouse(t);
  const folder = backupFolder(t);
  await backUpInto(house, folder);
  const path = dataDirectory(t);
  writeFileSync(join(path, 'something'), '');
  await t.rejects(restoreInto(path, folder), /is not empty \(something/);
  t.same(readdirSync(path), ['something']);
  await t.rejects(restoreInto(house.store.path, folder), /There is a store/);
});

t.test('restores of one directory leave each other alone, and take away what killed ones left', async t => {
  const house = await withHouse(t);
  await house.receive(letter(300), await house.addInbox('agent'));
  const folder = backupFolder(t);
  await backUpInto(house, folder);
  const path = dataDirectory(t);
  const dead = join(path, 'restoring/restore-0123456789ab');
  mkdirSync(join(dead, 'data/store'), { recursive: true });
  const other = await makeOwnFolder(join(path, 'restoring'), 'restore');
  t.notOk(existsSync(dead));
  writeFileSync(join(other.path, 'half-done'), '');
  const outcomes = await Promise.allSettled([restoreInto(path, folder), restoreInto(path, folder)]);
  t.strictSame(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'one is put in place');
  t.ok(existsSync(join(other.path, 'half-done')));
  const store = openStoreReadOnly(join(path, 'store'));
  t.equal(store.read(reader => getMeta(reader, 'identity'))?.id, readManifest(folder).store_id);
  await store.close();

  mkdirSync(dead);
  mkdirSync(join(path, 'restoring/data-of-an-older-version'));
  await removeLeftovers(path);
  t.strictSame(
    readdirSync(join(path, 'restoring')).filter(name => !name.endsWith('.sock')),
    [basename(other.path)],
  );
  await other.remove();
  t.notOk(existsSync(join(path, 'restoring')));
});

t.test('a store that is not that of the manifest is not put in place', async t => {
  const house = await withHouse(t);
  const folder = backupFolder(t);
  const { manifest } = await backUpInto(house, folder);
  for (const change of [{ schema: manifest.schema - 1 }, { store_id: 'else' }]) {
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, ...change }));
    const path = dataDirectory(t);
    await t.rejects(restoreInto(path, folder), /is not that of the backup/);
    t.strictSame(readdirSync(path), []);
  }
});

t.test('one backup is made at a time; one that was killed blocks nobody', async t => {
  const house = await withHouse(t);
  await inFlight(house, async () => {
    await t.rejects(backUpInto(house, backupFolder(t)), /Another backup/);
  });
  await backUpInto(house, backupFolder(t));
  const dead = { pid: 1, socket: 'backup-0123456789ab.sock', startedAt: 0 };
  await house.store.write(writer => putMeta(writer, 'backup', dead));
  await backUpInto(house, backupFolder(t));
});

t.test('a backup counts once it lies where it stays, and until then no other begins', async t => {
  const house = await withHouse(t);
  const [directory, last] = [
    backupFolder(t),
    () => house.store.read(reader => getMeta(reader, 'lastBackup')),
  ];
  const make = (finish: () => Promise<string>) =>
    backUp(
      { ...house, version: '1.2.3', diskFloorBytes: 0, mapSizeBytes: 2 ** 30 },
      { directory, files: [], onProgress: () => {}, finish },
    );
  await t.rejects(
    make(() => Promise.reject(new Error('tar failed'))),
    /tar failed/,
  );
  t.equal(last(), undefined);
  const { path } = await make(async () => {
    await t.rejects(backUpInto(house, backupFolder(t)), /Another backup/);
    return '/elsewhere';
  });
  t.strictSame([path, last()?.path], ['/elsewhere', '/elsewhere']);
});

async function inFlight({ store }: House, work: () => Promise<void>): Promise<void> {
  const presence = await Presence.show(store.path, 'backup');
  await store.write(writer => putMeta(writer, 'backup', { pid: 1, socket: presence.name, startedAt: 0 }));
  await work();
  await presence.hide();
}
