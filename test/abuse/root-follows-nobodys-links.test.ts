import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Folder } from '../../src/store/private-files.js';
import { packageRoot } from '../support/box/postern-box.js';

const skip = process.getuid?.() === 0 ? false : 'needs root';
const EVE = 65534;
const SECRET = 'root:secret\n';

interface Place {
  /** Belongs to Eve, who plants links in it. */
  readonly hers: string;
  /** A file and a folder of root that nothing may happen to. */
  readonly file: string;
  readonly folder: string;
  readonly isUntouched: () => boolean;
}

/** Not under TMPDIR, which may be closed to others. */
function placeOf(t: Test): Place {
  const top = mkdtempSync('/tmp/planted-');
  t.teardown(() => rmSync(top, { recursive: true, force: true }));
  chmodSync(top, 0o755);
  const [hers, file, folder] = ['hers', 'file', 'folder'].map(name => join(top, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(hers);
  chownSync(hers, EVE, EVE);
  mkdirSync(folder, 0o755);
  writeFileSync(file, SECRET, { mode: 0o600 });
  const isUntouched = (): boolean => {
    const [its, folders] = [lstatSync(file), lstatSync(folder)];
    const isRoots = its.uid === 0 && its.gid === 0 && folders.uid === 0 && folders.gid === 0;
    const hasItsMode = (its.mode & 0o777) === 0o600 && (folders.mode & 0o777) === 0o755;
    return isRoots && hasItsMode && readFileSync(file, 'utf8') === SECRET && readdirSync(folder).length === 0;
  };
  return { hers, file, folder, isUntouched };
}

function plant(target: string, at: string): void {
  symlinkSync(target, at);
  lchownSync(at, EVE, EVE);
}

function postern(...args: string[]): Promise<{ readonly code: number; readonly stderr: string }> {
  return new Promise(resolve => {
    const env = { ...process.env, POSTERN_STORE_MAP_SIZE_GIB: '0.25' };
    // A daemon that starts where it should not is ended.
    const options = { cwd: '/', env, timeout: 20_000 };
    const script = [join(packageRoot, 'bin/postern'), ...args, '--json'];
    execFile(process.execPath, script, options, (error, _stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stderr }),
    );
  });
}

const init = (config: string, ...args: string[]) =>
  postern('--config', config, 'init', '--domain', 'agents.test', ...args);

t.test(
  'init replaces a link that stands where the configuration goes, and not its target',
  { skip },
  async t => {
    const { hers, file, isUntouched } = placeOf(t);
    const config = join(hers, 'postern.toml');
    plant(file, config);
    plant(file, `${config}.new`);
    t.match(await init(config), { code: 1, stderr: /config_exists/ });
    t.ok(isUntouched());
    t.match(await init(config, '--force'), { code: 0 });
    t.ok(isUntouched());
    const made = lstatSync(config);
    t.ok(made.isFile());
    t.match(made, { uid: EVE, gid: EVE });
    t.equal(made.mode & 0o777, 0o600);
    t.match(readFileSync(config, 'utf8'), 'agents.test');
    t.same(
      readdirSync(hers).sort(),
      ['postern-data', 'postern.toml', 'postern.toml.new'],
      'no draft is left',
    );
  },
);

t.test('a link that leads nowhere is no place for a configuration', { skip }, async t => {
  const { hers, folder, isUntouched } = placeOf(t);
  const config = join(hers, 'postern.toml');
  plant(join(folder, 'new'), config);
  t.match(await init(config), { code: 1, stderr: /config_exists/ });
  t.ok(isUntouched());
  t.notOk(existsSync(config));
});

t.test('nor are folders behind her links: of the configuration, of the data', { skip }, async t => {
  const { hers, folder, isUntouched } = placeOf(t);
  plant(folder, join(hers, 'link'));
  const refused = { code: 1, stderr: /is a symbolic link that another user than root can change/ };
  t.match(await init(join(hers, 'link/postern.toml')), refused);
  t.match(await init(join(hers, 'link/deeper/postern.toml')), refused);
  plant(folder, join(hers, 'postern-data'));
  const config = join(hers, 'postern.toml');
  t.match(await init(config), refused);
  t.match(await postern('--config', config, 'account', 'create', 'ada@example.org'), refused);
  t.match(await postern('--config', config, 'serve'), refused);
  t.ok(isUntouched());
});

t.test('what root makes in her folder is hers, and root becomes her to work in it', { skip }, async t => {
  const { hers } = placeOf(t);
  const config = join(hers, 'deep/er/postern.toml');
  t.match(await init(config, '--data', join(hers, 'data')), { code: 0 });
  const made = readdirSync(hers, { recursive: true, encoding: 'utf8' }).map(name => join(hers, name));
  t.ok(made.length >= 6, made.join(' '));
  for (const path of made) {
    const { uid, gid, mode } = lstatSync(path);
    t.match({ uid, gid }, { uid: EVE, gid: EVE }, path);
    t.equal(mode & 0o077, 0, `${path} is for nobody else`);
  }
});

t.test('a link of root is followed', { skip }, async t => {
  const { folder } = placeOf(t);
  const link = join(folder, '../link');
  symlinkSync(folder, link);
  t.match(await init(join(link, 'postern.toml')), { code: 0 });
  t.ok(existsSync(join(folder, 'postern-data/store/data.mdb')));
});

/** Exchanges a folder and a link as fast as she can. */
const EXCHANGE = `
  const { mkdirSync, rmdirSync, symlinkSync, unlinkSync } = require('node:fs');
  const [path, target] = process.argv.slice(1);
  const tried = act => { try { act(); } catch {} };
  process.stdout.write('x');
  for (;;) {
    tried(() => symlinkSync(target, path));
    tried(() => unlinkSync(path));
    tried(() => mkdirSync(path));
    tried(() => rmdirSync(path));
  }`;

t.test('nor does it help her to exchange the folder while root looks at it', { skip }, async t => {
  const { hers, folder, isUntouched } = placeOf(t);
  const path = join(hers, 'changing');
  const eve = spawn(process.execPath, ['-e', EXCHANGE, path, folder], { uid: EVE, gid: EVE, cwd: '/' });
  t.teardown(() => eve.kill('SIGKILL'));
  await once(eve.stdout, 'data');
  const ends = { written: 0, refused: 0 };
  for (let n = 0; n < 3000; n++) {
    try {
      const inner = Folder.make(path);
      try {
        inner.remove(inner.writeDraft(SECRET, { mode: 0o600, owner: inner.owner() }));
        ends.written += 1;
      } finally {
        inner.close();
      }
    } catch {
      ends.refused += 1;
    }
  }
  t.comment(`written into a folder of hers: ${ends.written}, refused: ${ends.refused}`);
  t.ok(isUntouched());
  t.ok(ends.refused > 0);
});

t.test('a backup keeps no file of root that a link in the data directory leads to', { skip }, async t => {
  const { hers } = placeOf(t);
  const secrets = join(hers, '../secrets');
  mkdirSync(secrets, 0o700);
  writeFileSync(join(secrets, 'shadow'), SECRET, { mode: 0o600 });
  const [data, config, target] = ['data', 'postern.toml', 'backup'].map(name => join(hers, name)) as [
    string,
    string,
    string,
  ];
  t.match(await init(config, '--data', data), { code: 0 });
  plant(secrets, join(data, 'tls'));
  plant(join(secrets, 'shadow'), join(data, 'key'));
  const lines = `\n[relay]\ntransport = "smarthost"\n[relay.smarthost]\nhost = "127.0.0.1"\nuser = "x"\npassword_file = "${join(data, 'key')}"\n`;
  writeFileSync(config, `${readFileSync(config, 'utf8')}${lines}`);
  const run = await postern('--config', config, 'backup', target);
  t.match(run, { code: 0, stderr: /not in the backup: .*tls.*EACCES/ });
  const inIt = readdirSync(target, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.includes('/files/'),
  );
  t.strictSame(inIt.map(name => name.split('/').at(-1)).sort(), ['0-postern.toml', '1-environment']);
});
