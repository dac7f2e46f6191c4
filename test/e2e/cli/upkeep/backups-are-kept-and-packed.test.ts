import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import t, { type Test } from 'tap';
import { PosternBox } from '../../../support/box/postern-box.js';
import { type CliBox, cliBox } from '../cli-box.js';

interface Backup {
  readonly path: string;
  readonly files: readonly string[];
}

t.test('of several the newest stay, and the oldest becomes the next', async t => {
  const box = await withAccount(t);
  const folder = join(box.folder, 'backups');
  const names: string[] = [];
  for (let n = 0; n < 3; n++) {
    names.push((await box.json<Backup>('backup', folder, '--keep', '2')).path);
  }
  t.same(
    readdirSync(folder)
      .map(name => join(folder, name))
      .sort(),
    names.slice(1),
  );
  t.match(await box.json('verify', names[2] ?? ''), { sound: true });
  t.match(await box.json('status'), { last_backup: { path: names[2] }, restored: null });
  // As the clock was ahead for a while: by their names these are newer than whatever is made now.
  for (const [n, name] of readdirSync(folder).sort().entries()) {
    renameSync(join(folder, name), join(folder, `2999-01-0${n + 1}T000000.000Z`));
  }
  const { path } = await box.json<Backup>('backup', folder, '--keep', '1');
  t.strictSame(
    readdirSync(folder).map(name => join(folder, name)),
    [path],
    'the one just made is never taken for an old one',
  );
});

t.test('a folder of others is not closed to them', async t => {
  const box = await withAccount(t);
  const folder = join(box.folder, 'shared');
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  writeFileSync(join(folder, 'of-somebody'), '');
  for (const args of [[folder], [folder, '--keep', '7']]) {
    const { error } = await box.failure('backup', ...args);
    t.match(error, { code: 'invalid_request', message: /of-somebody is in it/ });
    t.equal(statSync(folder).mode & 0o777, 0o777);
  }
  chmodSync(folder, 0o700);
  await box.json('backup', folder, '--keep', '7');
});

t.test('one is packed into a file and restored from it', async t => {
  const box = await withAccount(t);
  const file = join(box.folder, 'mail.tar.zst');
  const { files } = await box.json<Backup>('backup', file);
  t.ok(
    files.some(path => path.endsWith('postern.toml')),
    'with the configuration',
  );
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.match(await box.json('status'), { last_backup: { path: file } });
  t.notOk(existsSync(`${file}.folder`), 'and nothing else is left');
  const other = await cliBox(t, { isInitialised: false });
  t.match(await other.json('restore', file), { is_held: true });
  t.match(await other.run('account', 'list'), { code: 0, out: /ann@x\.example/ });
  t.match(await other.json('status'), { restored: { is_held: true } });
  t.match(await other.run('queue', 'resume'), { code: 0, out: /again/ });
  t.match(await other.json('status'), { restored: { is_held: false } });
  t.notOk(existsSync(join(other.dataDir, 'restoring')));

  const folder = join(box.folder, 'folder');
  await box.json('backup', folder);
  const from = await box.run('backup', join(box.folder, 'second.tar.zst'), '--from', folder);
  t.equal(from.code, 0, from.err);
  const [third, elsewhere] = [join(box.folder, 'third.tar.zst'), join(box.folder, 'elsewhere')];
  writeFileSync(elsewhere, 'of somebody');
  for (const name of [third, `${third}.unfinished`]) symlinkSync(elsewhere, name);
  await box.json('backup', third, '--from', folder);
  t.equal(readFileSync(elsewhere, 'utf8'), 'of somebody', 'what a planted link leads to is not written');
  t.ok(lstatSync(third).isFile());
  t.match(await box.run('backup', folder, '--from', folder), { code: 2 });
  t.match(await box.run('restore'), { code: 2 });
  t.match(await box.run('restore', join(box.folder, 'none')), { code: 1, err: /There is a store/ });
});

t.test('without zstd it says so', async t => {
  const box = PosternBox.create(t);
  const made = await box.cli('init', '--force', '--domain', 'example.org', '--data', box.dataDir);
  t.equal(made.code, 0, made.stderr);
  box.env.PATH = (box.env.PATH ?? '')
    .split(delimiter)
    .filter(path => !existsSync(join(path, 'zstd')))
    .join(delimiter);
  const file = join(box.folder, 'mail.tar.zst');
  const run = await box.cli('backup', file);
  t.match(run, { code: 1, stderr: /is not installed.*apt install/ });
  t.notOk(existsSync(file));
  t.notOk(existsSync(`${file}.folder`), 'it says so before it copies anything');
});

async function withAccount(t: Test): Promise<CliBox> {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ann@x.example');
  return box;
}
