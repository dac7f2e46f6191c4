import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { getMeta } from '../../src/store/engine/meta.js';
import { MIGRATIONS, openMigratedStore } from '../../src/store/open-store.js';
import { claimStore } from '../../src/usecases/upkeep/claim-store.js';
import { unpackStore } from './schema-3/frozen-past.js';

const MORE_THAN_ANY_DISK = 2 ** 60;

t.test('without the room an upgrade is refused and changes nothing, unless it is to do without', async t => {
  const path = unpackStore(t, 6);
  const options = { path, mapSizeBytes: 2 ** 28, diskFloorBytes: 0 };
  await t.rejects(openMigratedStore({ ...options, diskFloorBytes: MORE_THAN_ANY_DISK }), {
    name: 'NoRoomForCopyError',
    message: /Make room, .*store\.upgrade_without_copy/,
  });
  t.notOk(existsSync(join(path, 'backups')));
  const store = await openMigratedStore({ ...options, upgradesWithoutCopy: true });
  t.equal(
    store.read(reader => getMeta(reader, 'schema')),
    MIGRATIONS.length,
  );
  t.notOk(existsSync(join(path, 'backups')));
  await store.close();
});

t.test('where there is room the store from before is kept', async t => {
  const path = unpackStore(t, 6);
  const backups = join(path, 'backups');
  mkdirSync(join(backups, 'upgrade-0123456789ab'), { recursive: true });
  mkdirSync(join(backups, 'before-schema-7-1.unfinished'));
  const store = await openMigratedStore({ path, mapSizeBytes: 2 ** 28, diskFloorBytes: 0 });
  t.notOk(existsSync(join(backups, 'upgrade-0123456789ab')), 'one whose process was killed makes room');
  const claim = await claimStore(store, '1.2.3', 1);
  await claim.release();
  await store.close();
  const [kept = '', ...others] = readdirSync(backups);
  t.match(kept, /^before-schema-7-\d+$/);
  t.strictSame(others, []);
});
