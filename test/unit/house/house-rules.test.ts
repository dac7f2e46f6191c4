import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../../../..');

function filesUnder(folder: string): string[] {
  const base = join(root, folder);
  if (!existsSync(base)) return [];
  return readdirSync(base, { recursive: true, encoding: 'utf8' })
    .map(file => join(folder, file))
    .filter(file => statSync(join(root, file)).isFile());
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const scripts = ['bin', '.ci'].flatMap(filesUnder);
const shellScripts = scripts.filter(file => read(file).startsWith('#!/usr/bin/env bash\n'));

t.test('no source file is longer than 400 lines', async t => {
  const tooLong = filesUnder('src')
    .filter(file => file.endsWith('.ts'))
    .map(file => ({ file, lines: read(file).split('\n').length - 1 }))
    .filter(({ lines }) => lines > 400);
  t.same(tooLong, []);
});

t.test('every dependency is pinned to one version', async t => {
  const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
  const loose = ['dependencies', 'devDependencies', 'optionalDependencies']
    .flatMap(kind => Object.entries(manifest[kind] ?? {}))
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
  t.same(loose, []);
});

t.test('every shell script parses', async t => {
  t.ok(shellScripts.length > 0);
  for (const file of shellScripts) {
    t.doesNotThrow(() => execFileSync('bash', ['-n', join(root, file)], { stdio: 'pipe' }), file);
  }
});

t.test('every script in bin/ can be run', async t => {
  for (const file of scripts) {
    t.match(read(file), /^#!\/usr\/bin\/env (bash|node)\n/, `${file} names its interpreter`);
    t.ok((statSync(join(root, file)).mode & 0o111) === 0o111, `${file} is executable`);
  }
});

t.test('the papers are in the house', async t => {
  for (const file of ['LICENSE', 'README.md', 'CHANGELOG.md']) t.ok(existsSync(join(root, file)), file);
});
