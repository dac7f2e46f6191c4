import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { getMeta } from '../../../../src/store/engine/meta.js';
import { MIGRATIONS, openStore } from '../../../../src/store/open-store.js';
import { startChild } from '../children/child.js';
import { linesTable } from '../lines.js';
import { dataDirectory, storeOptions, withStore } from '../with-store.js';

/** What every store of this program has; the child brings it two further. */
const NOW = MIGRATIONS.length;

t.test('killed in the middle of a step, the store stands before it; the next start completes it', async t => {
  const path = dataDirectory(t);
  await (await withStore(t, { path })).close();
  const killed = startChild(t, 'migrate.js', [path, 'die']);
  t.equal(await killed.ended, 'SIGKILL');

  const between = openStore(storeOptions(path));
  t.equal(
    between.read(reader => getMeta(reader, 'schema')),
    NOW + 1,
  );
  t.equal(
    between.read(reader => reader.get(linesTable, 'runs')),
    '2',
  );
  for (let n = 0; n < 500; n++) {
    if (between.read(reader => reader.get(linesTable, `line${n}`))?.length !== 500) return t.fail(`line${n}`);
  }
  await between.close();

  const next = startChild(t, 'migrate.js', [path]);
  t.equal(await next.nextLine(), '23');
});

t.test('two processes that start at once migrate once', async t => {
  for (let round = 0; round < 3; round++) {
    const path = dataDirectory(t);
    if (round > 0) await (await withStore(t, { path })).close();
    const children = [1, 2, 3].map(() => startChild(t, 'migrate.js', [path]));
    for (const child of children) t.equal(await child.nextLine(), '23');
    for (const child of children) t.equal(await child.ended, 0);
    if (round === 0) continue;
    const backups = readdirSync(join(path, 'backups'));
    t.ok(
      backups.some(backup => backup.startsWith(`before-schema-${NOW + 1}-`)),
      'there is a copy from before',
    );
    for (const backup of backups) {
      // One that came between the steps copies what it found.
      const next = Number(/^before-schema-(\d+)-\d+$/.exec(backup)?.[1]);
      const restored = dataDirectory(t);
      cpSync(join(path, 'backups', backup), join(restored, 'store'), { recursive: true });
      const old = openStore(storeOptions(restored));
      const schema = old.read(reader => getMeta(reader, 'schema'));
      t.ok(next === NOW + 1 || next === NOW + 2, backup);
      t.equal(schema, next - 1, backup);
      await old.close();
    }
  }
});
