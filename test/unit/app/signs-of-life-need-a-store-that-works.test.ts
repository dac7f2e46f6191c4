import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { Watchdog } from '../../../src/app/watchdog.js';
import { createLogger } from '../../../src/ops/logging.js';
import { packageRoot } from '../../support/box/postern-box.js';
import { withHouse } from '../usecases/with-house.js';

/** Holds the one lock of writers until it is killed. */
const HOLDER = `
import { openStore } from '${join(packageRoot, 'dist/src/store/open-store.js')}';
const store = openStore({ path: process.argv[1], mapSizeBytes: Number(process.argv[2]), diskFloorBytes: 1 });
await store.write(() => {
  process.stdout.write('held');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
`;

t.test('signs of life come while the store takes commits, and not while one hangs', async t => {
  const house = await withHouse(t);
  let signs = 0;
  let listener = (): void => {};
  // Signs of life keep no process alive.
  const awake = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(awake));
  const watchdog = new Watchdog({
    ...house,
    log: createLogger('silent'),
    limitMs: 40,
    commitEveryMs: 0,
    alive: () => {
      signs += 1;
      listener();
    },
  });
  t.teardown(() => watchdog.end());
  const more = (): Promise<void> =>
    new Promise(resolve => {
      listener = resolve;
    });
  await more();
  await more();

  const holder = spawn(
    process.execPath,
    ['--input-type=module', '-e', HOLDER, '--', house.store.path, String(2 ** 30)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.teardown(() => holder.kill('SIGKILL'));
  await new Promise(resolve => holder.stdout.once('data', resolve));
  // A commit that was under way when the lock was taken may end yet.
  await delay(100);
  const before = signs;
  for (let turns = 0; turns < 20; turns++) await delay(10);
  t.equal(signs, before, 'the loop turns and the store can be read, but nothing can be written');

  holder.kill('SIGKILL');
  await more();
  watchdog.stopping();
  await house.store.close();
  await more();
  t.pass('while the service stops, the main loop alone shows that it goes on');
});
