import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { entryPages, type Read, rawTable, SNAPSHOT_TABLES } from '../../src/store/backup/backup-tables.js';
import { fileSum, type Manifest, placeOf } from '../../src/store/backup/manifest.js';
import { getMeta } from '../../src/store/engine/meta.js';
import { Store, storeFolder } from '../../src/store/engine/store.js';
import { storeFile } from '../../src/store/engine/store-file.js';
import { walkTable } from '../../src/store/engine/tables.js';
import { messagesTable, sentTable } from '../../src/store/mailbox/messages.js';
import { MIGRATIONS, openMigratedStore, openStore } from '../../src/store/open-store.js';
import { verifyStore } from '../../src/store/verify/verify-store.js';
import { packageRoot } from '../support/box/postern-box.js';
import { dataDirectory, storeOptions } from '../unit/store/with-store.js';
import { backUpInto, backupFolder, restoreInto } from '../unit/usecases/upkeep/with-backups.js';

/** A store as the program of that day left it. */
function storeOf(t: Test, schema: number) {
  const path = dataDirectory(t);
  const packed = readFileSync(join(packageRoot, `test/upgrade/schema-${schema}/store.mdb.br`));
  mkdirSync(storeFolder(path), { recursive: true });
  writeFileSync(storeFile(path), brotliDecompressSync(packed));
  return openStore(storeOptions(path));
}

/** Ids of all messages, whatever else their records hold: those of older schemas cannot be read. */
function messageIds(store: Store): string[] {
  return store.read(reader =>
    [messagesTable, sentTable].flatMap(({ name }) =>
      [...walkTable(reader, rawTable(name))].map(({ key }) => key.toString('hex')),
    ),
  );
}

/** Leaves only the tables in the records of a backup that have anything in them: more, its program did not know. */
async function dropEmptyTables(folder: string, manifest: Manifest): Promise<void> {
  const place = placeOf.snapshot(folder, manifest.snapshot);
  const full = Store.openReadOnly(storeFolder(place), SNAPSHOT_TABLES);
  const read: Read = work => full.read(work);
  const filled = SNAPSHOT_TABLES.filter(({ name }) => !entryPages(read, rawTable(name)).next().done);
  const aside = `${place}.aside`;
  const few = Store.open({ path: aside, mapSizeBytes: 2 ** 28, diskFloorBytes: 0 }, filled);
  for (const { name } of filled) {
    for (const page of entryPages(read, rawTable(name))) {
      await few.write(writer => {
        for (const { key, value } of page) writer.put(rawTable(name), key, value);
      });
    }
  }
  await full.close();
  await few.close();
  rmSync(storeFolder(place), { recursive: true });
  renameSync(storeFolder(aside), storeFolder(place));
  const records = { ...manifest.records, ...fileSum(storeFile(place)) };
  writeFileSync(placeOf.manifest(folder), JSON.stringify({ ...manifest, records }));
}

for (const schema of [3, 4, 5, 6, 7]) {
  t.test(`a backup of schema ${schema} becomes a store of today`, async t => {
    const before = storeOf(t, schema);
    const ids = messageIds(before);
    t.ok(ids.length > 0);
    const folder = backupFolder(t);
    const { manifest } = await backUpInto({ store: before, clock: Date.now }, folder);
    t.equal(manifest.schema, schema);
    await before.close();
    await dropEmptyTables(folder, manifest);

    const path = dataDirectory(t);
    const restored = await restoreInto(path, folder);
    t.equal(restored.messages + restored.sent, ids.length);
    const after = await openMigratedStore(storeOptions(path));
    t.teardown(() => after.close());
    after.read(reader => {
      t.equal(getMeta(reader, 'schema'), MIGRATIONS.length);
      t.equal(getMeta(reader, 'restored')?.snapshotAt, Date.parse(manifest.snapshot_at));
    });
    t.same(messageIds(after), ids);
    t.same(verifyStore(after).faults, []);
  });
}
