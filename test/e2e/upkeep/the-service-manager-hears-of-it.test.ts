import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { PosternBox, packageRoot, startBox } from '../../support/box/postern-box.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { NotifySocket, skipWithoutNotify } from '../../support/systemd/manager.js';

const ALIVE = 'WATCHDOG=1';

/** Processes whose command line has this word, by pid. */
function processesWith(word: string, parent: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => {
      try {
        const isChild =
          readFileSync(`/proc/${name}/stat`, 'latin1').split(') ')[1]?.split(' ')[1] === String(parent);
        const isIt = readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(word);
        return isChild && isIt ? [Number(name)] : [];
      } catch {
        return [];
      }
    });
}

t.test('ready, alive, and stopping, in this order', { skip: skipWithoutNotify }, async t => {
  const manager = await NotifySocket.listen(t);
  const env = { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '2000000' };
  const box = await startBox(t, { env });
  await manager.until(heard => heard.filter(line => line === ALIVE).length >= 3);
  t.equal(manager.heard.filter(line => !line.startsWith('EXTEND'))[0], 'READY=1');
  t.equal(manager.count('READY=1'), 1, 'no other process speaks for it');
  await box.stop();
  await manager.until(heard => heard.includes('STOPPING=1'));
});

t.test('a migration asks for more time as it comes further', { skip: skipWithoutNotify }, async t => {
  const manager = await NotifySocket.listen(t);
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, 'store'), { recursive: true });
  const packed = readFileSync(join(packageRoot, 'test/upgrade/schema-6/store.mdb.br'));
  writeFileSync(join(dataDir, 'store/data.mdb'), brotliDecompressSync(packed));
  await startBox(t, { dataDir, env: { NOTIFY_SOCKET: manager.path } });
  await manager.until(heard => heard.includes('READY=1'));
  t.equal(manager.heard[0], 'EXTEND_TIMEOUT_USEC=60000000');
});

t.test('a helper that is killed is replaced', { skip: skipWithoutNotify }, async t => {
  const manager = await NotifySocket.listen(t);
  const box = await startBox(t, { env: { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '2000000' } });
  await manager.until(heard => heard.includes(ALIVE));
  const [helper] = processesWith('systemd-notify', box.pid);
  if (helper === undefined) throw new Error('there is no helper');
  const lost = box.hear(/helper that speaks to the service manager was lost/);
  process.kill(helper, 'SIGKILL');
  await lost;
  const before = manager.count(ALIVE);
  await manager.until(() => manager.count(ALIVE) > before + 1);
});

t.test('the helper ends with the daemon, however that ends', { skip: skipWithoutNotify }, async t => {
  const manager = await NotifySocket.listen(t);
  const box = await startBox(t, { env: { NOTIFY_SOCKET: manager.path } });
  const [helper = 0] = processesWith('systemd-notify', box.pid);
  t.ok(helper > 0);
  await box.kill();
  for (;;) {
    try {
      process.kill(helper, 0);
    } catch {
      break;
    }
    await delay(20);
  }
  t.equal(manager.count(ALIVE), 0, 'nobody asked for signs of life');
});

t.test('without a service manager nothing is started', async t => {
  const box = PosternBox.create(t);
  delete box.env.NOTIFY_SOCKET;
  await box.start();
  t.strictSame(processesWith('systemd-notify', box.pid), []);
});

t.test('the unit is what systemd takes, and asks for signs of life', async t => {
  const unit = readFileSync(join(packageRoot, 'systemd/postern.service'), 'utf8');
  t.match(unit, /^Type=notify$/m);
  t.match(unit, /^NotifyAccess=all$/m);
  t.match(unit, /^WatchdogSec=/m);
  t.match(unit, /^TimeoutStopSec=/m);
  const file = join(temporaryFolder(t), 'postern.service');
  // The program need not be installed here.
  writeFileSync(file, unit.replace('/usr/bin/postern', '/bin/true'));
  const said = execFileSync('systemd-analyze', ['verify', '--man=no', file], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  t.equal(said, '');
});
