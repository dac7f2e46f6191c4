import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { canMount, mountSmallDisk } from '../support/box/small-disk.js';
import { endedDeliveries, startDirectBox } from '../support/delivery/direct-box.js';
import { startDnsServer } from '../support/dns/dns-server.js';
import { send } from '../support/sending/sending.js';
import { withFakeSmarthost } from '../support/smarthost/fake-smarthost.js';
import { onceThat, say } from '../support/smarthost/smarthost-script.js';

/** Less than go to one domain at once. */
const UNDER_WAY = 5;

const skip = canMount() ? false : 'needs the right to mount a file system (run as root)';

t.test('a disk that is full when the answers come: each message was there once', { skip }, async t => {
  let answer = (): void => {};
  const answered = new Promise<void>(resolve => {
    answer = resolve;
  });
  const server = await withFakeSmarthost(t, { dot: () => onceThat(answered, say('250 2.0.0 Taken')) });
  const dns = await startDnsServer(t, {
    'far.example': { MX: [[10, 'mx.far.example']] },
    'mx.far.example': { A: ['127.0.0.1'] },
  });
  const disk = mountSmallDisk(t, 160);
  const box = await startDirectBox(t, {
    port: server.port,
    dns,
    dataDir: `${disk.path}/data`,
    env: { POSTERN_STORE_DISK_FLOOR_MIB: '1', POSTERN_STORE_MAP_SIZE_GIB: '1', POSTERN_LIMITS_SENDS: '100' },
  });
  const agent = await createAgent(box);
  const ids: string[] = [];
  for (let at = 0; at < UNDER_WAY; at++) {
    const to = [{ address: `r${at}@far.example` }];
    ids.push((await send(agent, { to, subject: 's', text: 'x'.repeat(30) })).message.id);
  }
  await server.until(() => server.submissions.length === UNDER_WAY);
  disk.fill(0);
  answer();
  // The answers come while nothing can be written, and what waits is looked at meanwhile.
  await delay(3_000);
  t.equal(server.submissions.length, UNDER_WAY);
  disk.empty();
  const states: string[] = [];
  for (const id of ids) states.push(...(await endedDeliveries(agent, id)).map(({ state }) => state));
  t.comment(`${states}`);
  t.ok(states.every(state => state === 'delivered' || state === 'unknown'));
  t.equal(server.submissions.length, UNDER_WAY, 'nothing is sent again');
  // What is sent now is taken up at once.
  const after = await send(agent, { to: [{ address: 'after@far.example' }], subject: 's', text: 'x' });
  t.same(
    (await endedDeliveries(agent, after.message.id)).map(({ state }) => state),
    ['delivered'],
  );
  t.same(box.heard(/cannot be written|uncaught|unhandled/), [], 'no commit was fatal');
  t.match(await box.cliJson('verify'), { sound: true });
});
