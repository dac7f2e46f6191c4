import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { claimStore, currentDaemon, StoreInUseError } from '../../../../src/usecases/upkeep/claim-store.js';
import { startChild } from '../../store/children/child.js';
import { dataDirectory, withStore } from '../../store/with-store.js';

const sockets = (path: string) => readdirSync(path).filter(name => name.endsWith('.sock'));

t.test('a living daemon is respected, and named', async t => {
  const path = dataDirectory(t);
  const daemon = startChild(t, 'claim.js', [path]);
  t.equal(await daemon.nextLine(), `claimed ${daemon.process.pid}`);
  const store = await withStore(t, { path });
  await t.rejects(claimStore(store, '1.2.3', 1), StoreInUseError);
  await t.rejects(claimStore(store, '1.2.3', 1), new RegExp(`pid ${daemon.process.pid}`));
  t.match(await currentDaemon(store), { pid: daemon.process.pid, version: '1.2.3' });
  t.equal(sockets(path).length, 1, 'who was refused leaves nothing');
});

t.test('one that was killed counts for nothing', async t => {
  const path = dataDirectory(t);
  const daemon = startChild(t, 'claim.js', [path]);
  await daemon.nextLine();
  await daemon.kill();
  const store = await withStore(t, { path });
  t.equal(await currentDaemon(store), null);
  const claim = await claimStore(store, '1.2.3', 1);
  t.match(await currentDaemon(store), { pid: process.pid, startedAt: 1 });
  t.equal(sockets(path).length, 1, 'what it left is cleared away');
  await claim.release();
  t.equal(sockets(path).length, 0);
  t.equal(await currentDaemon(store), null);
});

t.test('one that stopped in order has given it back', async t => {
  const path = dataDirectory(t);
  const daemon = startChild(t, 'claim.js', [path]);
  await daemon.nextLine();
  daemon.process.stdin?.write('stop\n');
  t.equal(await daemon.ended, 0);
  const store = await withStore(t, { path });
  t.equal(await currentDaemon(store), null);
  t.equal(sockets(path).length, 0);
});

t.test('of several that start at once, over the lease of a dead one, exactly one serves', async t => {
  const path = dataDirectory(t);
  const dead = startChild(t, 'claim.js', [path]);
  await dead.nextLine();
  await dead.kill();
  const starters = Array.from({ length: 4 }, () => startChild(t, 'claim.js', [path]));
  const answers = await Promise.all(starters.map(starter => starter.nextLine()));
  t.equal(answers.filter(answer => answer.startsWith('claimed ')).length, 1, answers.join('\n'));
  t.equal(answers.filter(answer => answer.startsWith('StoreInUseError: ')).length, 3);
});

t.test('nor do two that both saw it dead', async t => {
  for (const hasDead of [false, true]) {
    const path = dataDirectory(t);
    const store = await withStore(t, { path });
    if (hasDead) {
      const dead = startChild(t, 'claim.js', [path]);
      await dead.nextLine();
      await dead.kill();
    }
    const claims = await Promise.allSettled([1, 2, 3, 4, 5].map(n => claimStore(store, '1.2.3', n)));
    const won = claims.filter(claim => claim.status === 'fulfilled');
    t.equal(won.length, 1);
    for (const claim of claims) if (claim.status === 'rejected') t.type(claim.reason, StoreInUseError);
    t.equal(sockets(path).length, 1);
    await won[0]?.value.release();
    t.equal(await currentDaemon(store), null);
  }
});

t.test('however deep the data directory lies', async t => {
  const path = join(dataDirectory(t), 'a'.repeat(100), 'b'.repeat(100));
  mkdirSync(path, { recursive: true });
  const store = await withStore(t, { path });
  const claim = await claimStore(store, '1.2.3', 1);
  await t.rejects(claimStore(store, '1.2.3', 2), StoreInUseError);
  await claim.release();
  await (await claimStore(store, '1.2.3', 3)).release();
});
