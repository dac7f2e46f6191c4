import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ChallengeListener } from '../../src/acme/challenge-listener.js';
import { Challenges } from '../../src/acme/challenges.js';
import { freePort } from '../support/redis/own-redis.js';
import { temporaryFolder } from '../support/redis/redis.js';

const TOKEN = 'abcdefghijklmnopqrstuvwxyz-_0123456789';
const PATH = '/.well-known/acme-challenge/';

async function listen(t: Test): Promise<{ port: number; challenges: Challenges }> {
  const port = await freePort();
  const challenges = new Challenges(join(temporaryFolder(t), 'challenges'));
  const listener = new ChallengeListener({ host: '127.0.0.1', port, challenges });
  await listener.open();
  t.teardown(() => listener.close());
  return { port, challenges };
}

function ask(
  port: number,
  path: string,
  method = 'GET',
  localAddress = '127.0.0.1',
): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, method, localAddress, agent: false }, response => {
      let text = '';
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk;
      });
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    });
    request.on('error', reject);
  });
}

t.test('only a token that is waited for is answered', async t => {
  const { port, challenges } = await listen(t);
  challenges.put(TOKEN, 'the proof');
  t.same(await ask(port, PATH + TOKEN), [200, 'the proof']);
  t.same(await ask(port, PATH + TOKEN, 'HEAD'), [200, '']);
  for (const path of [
    '/',
    '/healthz',
    '/v1/inboxes',
    PATH,
    `${PATH}${TOKEN}x`,
    `${PATH}${TOKEN}/`,
    `${PATH}../${TOKEN}`,
    `${PATH}..%2f..%2faccount.pem`,
    `${PATH}../certificate.pem`,
    `${PATH}${'a'.repeat(300)}`,
  ]) {
    t.equal((await ask(port, path))[0], 404, path);
  }
  t.equal((await ask(port, PATH + TOKEN, 'DELETE'))[0], 404);
  challenges.remove(TOKEN);
  t.equal((await ask(port, PATH + TOKEN))[0], 404);
});

t.test('a path that is no token is never a file', async t => {
  const { challenges } = await listen(t);
  t.throws(() => challenges.put('../escape-from-the-folder', 'x'), /not base64url/);
});

t.test('many slow connections keep no authority out', async t => {
  const { port, challenges } = await listen(t);
  challenges.put(TOKEN, 'the proof');
  const slow: Socket[] = [];
  let closed = 0;
  // From more networks than have a place each; each has more connections than one may have.
  for (let network = 1; network <= 20; network++) {
    for (let at = 0; at < 12; at++) {
      const socket = connect({ host: '127.0.0.1', port, localAddress: `127.0.1.${network}` });
      socket.on('error', () => {}).once('close', () => void closed++);
      slow.push(socket);
      await once(socket, 'connect');
      socket.write('GET /.well-known/acme-challenge/ HTTP/1.1\r\nHost: x\r\nX-');
    }
  }
  t.same(await ask(port, PATH + TOKEN), [200, 'the proof']);
  t.same(
    await ask(port, PATH + TOKEN, 'GET', '127.0.1.20'),
    [200, 'the proof'],
    'from a network of theirs, too',
  );
  t.ok(slow.length - closed <= 64, `${slow.length - closed} are open`);
  for (const socket of slow) socket.destroy();
});

t.test('what is no HTTP, or too long, ends the connection', async t => {
  const { port } = await listen(t);
  for (const bytes of [
    'nonsense\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
  ]) {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('error', () => {});
    socket.write(bytes);
    socket.resume();
    await new Promise(resolve => void socket.once('close', resolve));
  }
  t.equal((await ask(port, '/'))[0], 404);
});
