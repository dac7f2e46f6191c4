import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { DamagedStoreError, storeExists } from '../../../../src/store/engine/store.js';
import { openMigratedStore } from '../../../../src/store/open-store.js';

const options = (path: string) => ({ path, mapSizeBytes: 2 ** 26, diskFloorBytes: 1 });

for (const [what, bytes] of [
  ['garbage', Buffer.alloc(65_536, 'x')],
  ['zeros', Buffer.alloc(65_536)],
  ['a stump', Buffer.alloc(100, 1)],
] as const) {
  t.test(`${what} in place of the store`, async t => {
    const path = await mkdtemp(join(tmpdir(), 'damaged-'));
    t.teardown(() => rmSync(path, { recursive: true }));
    mkdirSync(join(path, 'store'));
    writeFileSync(join(path, 'store', 'data.mdb'), bytes);
    await t.rejects(openMigratedStore(options(path)), DamagedStoreError);
  });
}

t.test('a sound store opens again, and an absent or empty one is made', async t => {
  const path = await mkdtemp(join(tmpdir(), 'sound-'));
  t.teardown(() => rmSync(path, { recursive: true }));
  t.notOk(storeExists(path));
  mkdirSync(join(path, 'store'));
  writeFileSync(join(path, 'store', 'data.mdb'), '');
  for (let run = 0; run < 2; run++) {
    const store = await openMigratedStore(options(path));
    await store.close();
    t.ok(storeExists(path));
  }
});
