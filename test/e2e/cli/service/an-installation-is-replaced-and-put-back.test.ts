import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../../support/box/postern-box.js';

const GIB = 2 ** 30;

function environment(destination: string): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_'));
  return { ...Object.fromEntries(inherited), DESTDIR: destination };
}

t.test('limits of memory follow from the configuration, and the file of an operator stays', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'install-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const units = join(folder, 'usr/lib/systemd/system/postern.service.d');
  const ownFiles = [
    join(folder, 'etc/systemd/system/postern.service.d/override.conf'),
    join(units, '90-own.conf'),
  ];
  for (const file of ownFiles) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '[Service]\nMemoryMax=1G\n');
  }
  const env = environment(folder);
  const install = (): string => {
    execFileSync(join(packageRoot, 'bin/install'), { env, stdio: 'pipe' });
    return readFileSync(join(units, '50-memory.conf'), 'utf8');
  };

  install();
  const config = join(folder, 'etc/postern/postern.toml');
  writeFileSync(config, '[mail]\ndomains = ["example.org"]\n[parse]\nworkers = 7\n');
  const limits = install();
  const check = execFileSync(
    process.execPath,
    [join(packageRoot, 'bin/postern'), '--json', '--config', config, 'config', 'check'],
    { env, encoding: 'utf8' },
  );
  const { bytes } = (JSON.parse(check) as { memory: { bytes: number } }).memory;
  t.match(limits, `[Service]\nMemoryHigh=${bytes + GIB}\nMemoryMax=${2 * bytes + GIB}\n`);
  for (const file of ownFiles) t.equal(readFileSync(file, 'utf8'), '[Service]\nMemoryMax=1G\n');
});

t.test('the program from before is kept, and can be put back', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'install-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const env = environment(folder);
  const run = (...args: string[]): string =>
    execFileSync(join(packageRoot, 'bin/install'), args, { env, stdio: 'pipe', encoding: 'utf8' });
  const program = join(folder, 'usr/lib/postern');
  const mark = (name: string) => writeFileSync(join(program, 'mark'), name);
  const marked = (): string => readFileSync(join(program, 'mark'), 'utf8');

  run();
  t.throws(() => run('--back'), /no program was replaced/);
  mark('first');
  const units = join(folder, 'usr/lib/systemd/system');
  const [unit, timer] = [join(units, 'postern.service'), join(units, 'postern-backup.timer')];
  const ofNow = readFileSync(unit, 'utf8');
  // As a program was installed that does not tell that it is ready, and had no timer yet.
  writeFileSync(unit, '[Service]\nType=exec\n');
  rmSync(timer);
  run();
  t.throws(marked, { code: 'ENOENT' });
  t.equal(readFileSync(unit, 'utf8'), ofNow);
  run();
  const said = run('--back');
  t.match(said, /before-schema-N-TIME/, 'it says what to do about the store');
  t.match(said, /have to leave postern\.toml/);
  t.equal(marked(), 'first', 'the same program twice is no update');
  t.equal(readFileSync(unit, 'utf8'), '[Service]\nType=exec\n', 'each program has its own units');
  t.notOk(existsSync(timer));
  run('--back');
  t.throws(marked, { code: 'ENOENT' });
  t.equal(readFileSync(unit, 'utf8'), ofNow);
  t.ok(existsSync(timer));

  mark('second');
  const [previous, swapping] = ['postern.previous', '.postern.swap'].map(name =>
    join(folder, 'usr/lib', name),
  ) as [string, string];
  renameSync(previous, swapping);
  run('--back');
  t.equal(marked(), 'first', 'a run that was killed after the first move has lost nothing');
  renameSync(program, swapping);
  run('--back');
  t.equal(marked(), 'second', 'nor one that was killed before the last');
  run('--back');
  t.equal(marked(), 'first');
  const version = execFileSync(join(folder, 'usr/bin/postern'), ['version'], { env, encoding: 'utf8' });
  t.match(version, /0\./);
});
