import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import t from 'tap';

const script = join(import.meta.dirname, '../cli-process.js');
const isRoot = process.getuid?.() === 0;

/** Not under TMPDIR: that folder may be closed to others, and an owner has to reach his directory. */
function folderOf(t: Test, uid: number, gid: number): string {
  const folder = mkdtempSync('/tmp/cli-root-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  chownSync(folder, uid, gid);
  return folder;
}

async function postern(...args: string[]): Promise<string> {
  const env = { ...process.env, POSTERN_STORE_MAP_SIZE_GIB: '0.25' };
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { env });
  return stdout;
}

const owners: ReadonlyArray<readonly [who: string, uid: number, gid: number]> = [
  ['a user of the machine', 65534, 65534],
  ['a number that is nobody', 54321, 54322],
];

for (const [who, uid, gid] of owners) {
  t.test(`everything that root makes belongs to ${who}`, { skip: !isRoot && 'needs root' }, async t => {
    const data = folderOf(t, uid, gid);
    const config = join(folderOf(t, uid, gid), 'postern.toml');
    await postern('--config', config, 'init', '--domain', 'agents.test', '--data', data);
    await postern('--config', config, 'account', 'create', 'ada@example.org');
    const made = [
      config,
      ...readdirSync(data, { recursive: true, encoding: 'utf8' }).map(name => join(data, name)),
    ];
    t.ok(made.length > 3, made.join(' '));
    for (const file of made) t.match(statSync(file), { uid, gid }, file);
    t.equal(await postern('--config', config, 'serve'), `serving as ${uid}:${gid}\n`);
  });
}

t.test("root stays root where the data directory is root's", { skip: !isRoot && 'needs root' }, async t => {
  const data = folderOf(t, 0, 0);
  const config = join(data, 'postern.toml');
  await postern('--config', config, 'init', '--domain', 'agents.test', '--data', join(data, 'data'));
  t.equal(await postern('--config', config, 'serve'), 'serving as 0:0\n');
});
