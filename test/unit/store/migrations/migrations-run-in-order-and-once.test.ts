import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { getMeta } from '../../../../src/store/engine/meta.js';
import type { Store } from '../../../../src/store/engine/store.js';
import type { Migration } from '../../../../src/store/migrations/0001-initial-schema.js';
import { MIGRATIONS, NewerSchemaError, openMigratedStore } from '../../../../src/store/open-store.js';
import { linesTable } from '../lines.js';
import { dataDirectory, storeOptions, withStore } from '../with-store.js';

/** The schema that every store of this program has. */
const NOW = MIGRATIONS.length;

const step = (name: string): Migration => ({
  name,
  up: writer => writer.put(linesTable, 'steps', `${writer.get(linesTable, 'steps') ?? ''}${name} `),
});

t.test('each step once, whether they come together or one by one', async t => {
  const [two, three] = [step('two'), step('three')];
  for (const upgrades of [[[two, three]], [[two], [two, three]], [[two], [two], [two, three]]]) {
    const path = dataDirectory(t);
    for (const added of upgrades)
      await (await openMigratedStore(storeOptions(path), [...MIGRATIONS, ...added])).close();
    const store = await openMigratedStore(storeOptions(path), [...MIGRATIONS, two, three]);
    t.equal(
      store.read(reader => reader.get(linesTable, 'steps')),
      'two three ',
    );
    t.equal(
      store.read(reader => getMeta(reader, 'schema')),
      NOW + 2,
    );
    await store.close();
  }
});

t.test('the identity is made once', async t => {
  const path = dataDirectory(t);
  const first = await withStore(t, { path });
  const identity = first.read(reader => getMeta(reader, 'identity'));
  t.match(identity?.cursorSecret, /^[A-Za-z0-9+/]{43}=$/);
  await first.close();
  const again = await withStore(t, { path });
  t.strictSame(
    again.read(reader => getMeta(reader, 'identity')),
    identity,
  );
});

t.test('a store of a newer program is refused in clear words and left alone', async t => {
  const path = dataDirectory(t);
  await (await openMigratedStore(storeOptions(path), [...MIGRATIONS, step('two')])).close();
  const error = await openMigratedStore(storeOptions(path)).catch(reason => reason);
  t.type(error, NewerSchemaError);
  t.match(error.message, new RegExp(`schema ${NOW + 1}.*knows up to ${NOW}.*newer version of Postern`));
  const store = await openMigratedStore(storeOptions(path), [...MIGRATIONS, step('two')]);
  t.equal(
    store.read(reader => reader.get(linesTable, 'steps')),
    'two ',
  );
  await store.close();
});

t.test('a store that holds anything is copied first, an empty one is not', async t => {
  const path = dataDirectory(t);
  const store = await withStore(t, { path });
  await store.write(writer => writer.put(linesTable, 'mail', 'from before'));
  await store.close();
  t.notOk(existsSync(join(path, 'backups')));

  await (await openMigratedStore(storeOptions(path), [...MIGRATIONS, step('two')])).close();
  const [backup = ''] = readdirSync(join(path, 'backups'));
  t.match(backup, new RegExp(`^before-schema-${NOW + 1}-\\d+$`));

  // A restored backup: the copy in the place of the store.
  const restored = dataDirectory(t);
  cpSync(join(path, 'backups', backup), join(restored, 'store'), { recursive: true });
  const old = await withStore(t, { path: restored });
  t.equal(
    old.read(reader => getMeta(reader, 'schema')),
    NOW,
  );
  t.equal(
    old.read(reader => reader.get(linesTable, 'mail')),
    'from before',
  );
});

t.test('a step of many units goes on where it was interrupted, before all else', async t => {
  const path = dataDirectory(t);
  let isBroken = true;
  const long: Migration = {
    name: 'long',
    up: writer => writer.put(linesTable, 'steps', 'begun '),
    more: (writer, _nowMs, position) => {
      const at = Number(position?.toString() ?? 0);
      if (at === 2 && isBroken) throw new Error('interrupted');
      writer.put(linesTable, 'steps', `${writer.get(linesTable, 'steps')}${at} `);
      return at === 4 ? null : Buffer.from(`${at + 1}`);
    },
  };
  const steps = (store: Store) => store.read(reader => reader.get(linesTable, 'steps'));
  await t.rejects(openMigratedStore(storeOptions(path), [...MIGRATIONS, long, step('next')]), /interrupted/);
  await t.rejects(openMigratedStore(storeOptions(path)), NewerSchemaError, 'an older program stays away');
  await t.rejects(openMigratedStore(storeOptions(path), [...MIGRATIONS, long]), /interrupted/);
  isBroken = false;
  const open = () => openMigratedStore(storeOptions(path), [...MIGRATIONS, long, step('next')]);
  const [one, two] = [await open(), await open()];
  t.equal(steps(one), 'begun 0 1 2 3 4 next ');
  t.equal(steps(two), 'begun 0 1 2 3 4 next ');
  for (const store of [one, two]) await store.close();
});

t.test('a step that throws leaves the schema before it', async t => {
  const path = dataDirectory(t);
  const broken: Migration = {
    name: 'broken',
    up: writer => {
      writer.put(linesTable, 'half', 'done');
      throw new Error('does not work');
    },
  };
  await t.rejects(
    openMigratedStore(storeOptions(path), [...MIGRATIONS, step('two'), broken]),
    /does not work/,
  );
  const store = await openMigratedStore(storeOptions(path), [...MIGRATIONS, step('two')]);
  t.equal(
    store.read(reader => getMeta(reader, 'schema')),
    NOW + 1,
  );
  t.notOk(store.read(reader => reader.has(linesTable, 'half')));
  await store.close();
});
