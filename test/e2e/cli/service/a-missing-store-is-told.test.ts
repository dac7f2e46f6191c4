import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cliBox } from '../cli-box.js';

t.test('looking at a store that is not there makes none', async t => {
  const box = await cliBox(t, { isInitialised: false });
  for (const command of [['account', 'list'], ['status'], ['key', 'revoke', 'x'], ['message', 'raw', 'x']]) {
    const { code, out, error } = await box.failure(...command);
    t.equal(code, 1, command.join(' '));
    t.equal(out, '');
    t.equal(error.code, 'no_store');
    t.match(error.message, box.dataDir);
    t.match(error.message, /postern init/);
  }
  t.notOk(existsSync(join(box.dataDir, 'store')));
});

t.test('the first account makes the store, and says so', async t => {
  const box = await cliBox(t, { isInitialised: false });
  const run = await box.run('account', 'create', 'ada@example.org', '--json');
  t.equal(run.code, 0);
  t.match(run.err, `made an empty store in ${box.dataDir}`);
  t.match(JSON.parse(run.out), { email: 'ada@example.org' });
});

t.test('a store that cannot be made says where and why', async t => {
  const box = await cliBox(t, { isInitialised: false });
  mkdirSync(join(box.folder, 'blocked'));
  writeFileSync(join(box.folder, 'blocked', 'store'), 'a file where a folder should be');
  box.env.POSTERN_STORE_PATH = join(box.folder, 'blocked');
  const { code, out, error } = await box.failure('account', 'create', 'ada@example.org');
  t.equal(code, 1);
  t.equal(out, '');
  t.equal(error.code, 'store_unavailable');
  t.match(error.message, join(box.folder, 'blocked'));
});
