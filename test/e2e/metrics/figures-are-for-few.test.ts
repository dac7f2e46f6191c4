import { connect, type Socket } from 'node:net';
import t from 'tap';
import { PosternBox, startBox } from '../../support/box/postern-box.js';
import { ask, Scrape } from '../../support/metrics/scrape.js';
import { freePort } from '../../support/redis/own-redis.js';

t.test('without admin.port nothing listens and nothing is counted', async t => {
  const box = await startBox(t);
  t.equal(box.heard(/figures are served/).length, 0);
});

t.test('/metrics is all there is, and few connections are', async t => {
  const port = await freePort();
  await startBox(t, { env: { POSTERN_ADMIN_PORT: String(port) } });
  const answer = await ask(port);
  t.equal(answer.status, 200);
  t.match(answer.type, /^text\/plain; version=0\.0\.4/);
  t.ok(new Scrape(answer.text).value('postern_build_info') === 1);
  t.equal((await ask(port, '/metrics', 'HEAD')).text, '');
  t.equal((await ask(port, '/metrics', 'POST')).status, 405);
  t.equal((await ask(port, '/')).status, 404);
  t.equal((await ask(port, '/v1/inboxes')).status, 404);

  const open: Socket[] = [];
  t.teardown(() => {
    for (const socket of open) socket.destroy();
  });
  const isRefused = async (): Promise<boolean> => {
    const socket = connect(port, '127.0.0.1');
    open.push(socket);
    // One that is cut off may be reset.
    socket.on('error', () => {});
    await new Promise(resolve => socket.once('connect', resolve));
    return new Promise(resolve => {
      socket.once('close', () => resolve(true));
      socket.once('data', () => resolve(false));
      socket.write('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    });
  };
  const refused: boolean[] = [];
  for (let n = 0; n < 20; n++) refused.push(await isRefused());
  t.equal(refused.filter(one => one).length, 4, 'sixteen are served, the others are cut off');
  for (const socket of open) socket.destroy();
});

t.test('a port that is taken keeps the daemon from starting, and it says so', async t => {
  const port = await freePort();
  await startBox(t, { env: { POSTERN_ADMIN_PORT: String(port) } });
  const other = PosternBox.create(t, { env: { POSTERN_ADMIN_PORT: String(port) } });
  const { code } = await other.spawn().exited;
  t.equal(code, 1);
  t.match(other.tail(), /EADDRINUSE/);
});
