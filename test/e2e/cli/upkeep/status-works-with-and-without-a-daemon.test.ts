import t from 'tap';
import { claimStore } from '../../../../src/usecases/upkeep/claim-store.js';
import { cliBox, DOMAIN } from '../cli-box.js';

t.test('without a daemon: version, store and counts', async t => {
  const box = await cliBox(t);
  await box.deliver(`postmaster@${DOMAIN}`, 'Subject: x\r\n\r\nx\r\n');
  const status = await box.json<object>('status');
  t.match(status, {
    version: '1.2.3',
    daemon: null,
    store: {
      path: box.dataDir,
      schema: Number,
      created_at: String,
      used_bytes: Number,
      map_size_bytes: 2 ** 28,
      map_free_bytes: Number,
      disk_free_bytes: Number,
      has_room: true,
    },
    counts: { accounts: 1, inboxes: 1, messages: 1 },
    pending: { messages: 1, oldest_age_s: Number },
  });
  t.match((await box.run('status')).out, /^daemon +not running$/m);
});

t.test('with a daemon: who it is and since when', async t => {
  const box = await cliBox(t);
  const store = await box.openStore();
  const claim = await claimStore(store, '9.9.9', Date.now() - 3_600_000);
  try {
    t.match(await box.json('status'), { daemon: { pid: process.pid, version: '9.9.9', started_at: String } });
    t.match((await box.run('status')).out, /^daemon +running, pid \d+, version 9\.9\.9, up 1 h/m);
  } finally {
    await claim.release();
    await store.close();
  }
});
