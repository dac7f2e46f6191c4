import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cliBox } from '../cli-box.js';

t.test('init writes a configuration and a store with a home for postmaster mail', async t => {
  const box = await cliBox(t, { isInitialised: false });
  const file = join(box.folder, 'new', 'postern.toml');
  const run = await box.runPlain(
    '--json',
    '--config',
    file,
    'init',
    '--domain',
    'mail.test',
    '--data',
    'new/data',
  );
  t.equal(run.code, 0, run.err);
  t.same(JSON.parse(run.out), {
    config_file: file,
    data_dir: join(box.folder, 'new/data'),
    mail_domains: ['mail.test'],
    store: 'made',
  });
  const list = await box.runPlain('--config', file, 'inbox', 'list', '--json');
  t.match(JSON.parse(list.out), { inboxes: [{ address: 'postmaster@mail.test' }] });
});

t.test('POSTERN_CONFIG names the file where --config does not; the data lies beside it', async t => {
  const box = await cliBox(t, { isInitialised: false });
  box.env.POSTERN_CONFIG = 'new/postern.toml';
  const run = await box.runPlain('init', '--json');
  t.equal(run.code, 0, run.err);
  t.match(JSON.parse(run.out), {
    config_file: join(box.folder, 'new/postern.toml'),
    data_dir: join(box.folder, 'new/postern-data'),
  });
});

t.test('the text says what to do next', async t => {
  const box = await cliBox(t, { isInitialised: false });
  const file = join(box.folder, 'other.toml');
  const run = await box.runPlain('init', '--config', file, '--domain', 'mail.test');
  t.equal(run.code, 0, run.err);
  t.match(run.out, `postern --config ${file} account create`);
  t.match(run.out, `postern --config ${file} serve`);
});

t.test('a domain that is none leaves nothing behind', async t => {
  const box = await cliBox(t, { isInitialised: false });
  const file = join(box.folder, 'new', 'postern.toml');
  const run = await box.runPlain('init', '--config', file, '--domain', 'not a domain', '--data', 'new/data');
  t.equal(run.code, 3);
  t.match(run.err, `${file}`);
  t.match(run.err, /mail\.domains/);
  t.notOk(existsSync(file));
  t.notOk(existsSync(`${file}.new`));
  t.notOk(existsSync(join(box.folder, 'new/data')));
});

t.test('init refuses to overwrite a configuration, and says how to', async t => {
  const box = await cliBox(t, { isInitialised: false });
  const before = readFileSync(box.configFile, 'utf8');
  const { code, out, error } = await box.failure('init', '--domain', 'other.test');
  t.equal(code, 1);
  t.equal(out, '');
  t.equal(error.code, 'config_exists');
  t.match(error.message, /--force/);
  t.equal(readFileSync(box.configFile, 'utf8'), before);
});

t.test('--force writes the configuration anew and keeps the store', async t => {
  const box = await cliBox(t);
  const account = await box.json('account', 'create', 'ada@example.org');
  const again = await box.json('init', '--force', '--domain', 'other.test', '--data', 'data');
  t.equal(again.store, 'kept');
  t.same(await box.json('account', 'show', 'ada@example.org'), account);
  t.match(readFileSync(box.configFile, 'utf8'), 'other.test');
});
