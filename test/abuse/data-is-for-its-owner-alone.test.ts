import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Presence } from '../../src/store/engine/meta.js';
import { initialSchema } from '../../src/store/migrations/0001-initial-schema.js';
import { openMigratedStore } from '../../src/store/open-store.js';
import { createAgent } from '../support/box/agents.js';
import { PosternBox } from '../support/box/postern-box.js';
import { temporaryFolder } from '../support/redis/redis.js';

// As careless as can be.
const before = process.umask(0);
t.teardown(() => void process.umask(before));

/** Every file, folder and socket below, and the folder itself. */
function entriesOf(folder: string): string[] {
  const below = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return [folder, ...below.map(name => join(folder, name))];
}

function expectPrivate(t: Test, folder: string): string[] {
  const entries = entriesOf(folder);
  for (const path of entries) {
    const facts = lstatSync(path);
    t.equal(facts.mode & 0o077, 0, `${path} is ${(facts.mode & 0o777).toString(8)}`);
    if (!facts.isDirectory() && !path.endsWith('redis.sock')) t.equal(facts.mode & 0o777, 0o600, path);
  }
  return entries.map(path => path.slice(folder.length + 1));
}

t.test('what a daemon makes, with its Redis', async t => {
  const box = PosternBox.create(t);
  await box.start();
  await createAgent(box);
  const made = expectPrivate(t, box.dataDir);
  for (const name of ['store/data.mdb', 'store/lock.mdb', 'redis/owner.json', 'redis/redis.sock']) {
    t.ok(made.includes(name), name);
  }
  t.ok(made.some(name => /^daemon-.*\.sock$/.test(name)));
  t.ok(
    made.some(name => /^redis\/appendonlydir\//.test(name)),
    'what Redis writes',
  );
  await box.stop();
});

t.test('a store that others could read is closed to them, and its copy before an upgrade', async t => {
  const path = join(temporaryFolder(t), 'data');
  const options = { path, mapSizeBytes: 2 ** 27, diskFloorBytes: 0 };
  const old = await openMigratedStore(options, [initialSchema]);
  await old.close();
  expectPrivate(t, path);
  for (const entry of entriesOf(path)) chmodSync(entry, lstatSync(entry).isDirectory() ? 0o755 : 0o644);
  mkdirSync(join(path, 'backups'), { mode: 0o755 });
  chmodSync(path, 0o700);
  const store = await openMigratedStore(options);
  const presence = await Presence.show(path);
  t.teardown(async () => {
    await presence.hide();
    await store.close();
  });
  const made = expectPrivate(t, path);
  t.ok(made.some(name => /^backups\/before-schema-2-\d+\/data\.mdb$/.test(name)));
});
