import { once } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import { json, type ServedRoute } from '../../../../src/http/server/route.js';
import { readToEnd, withServer } from '../with-server.js';

const turns = async (count: number) => {
  for (let n = 0; n < count; n++) await new Promise(resolve => setImmediate(resolve));
};

/** A route whose requests are answered when they are told to, and how many of them have begun. */
function waitingRoute() {
  const waiting: (() => void)[] = [];
  const state = { begun: 0 };
  const route: ServedRoute = {
    method: 'GET',
    path: '/waiting',
    auth: 'none',
    handle: () => {
      state.begun++;
      return new Promise(resolve => waiting.push(() => resolve(json(200, { n: state.begun }))));
    },
  };
  return { route, state, answerOne: () => waiting.shift()?.() };
}

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

t.test(
  'sixteen requests are open, the others wait for their answers, and all are answered in order',
  async t => {
    const { route, state, answerOne } = waitingRoute();
    const { socket } = await withServer(t, [route]);
    const client = await socket();
    const answer = readToEnd(client);
    client.write(GET('/waiting').repeat(40));
    while (state.begun < 16) await turns(1);
    await turns(50);
    t.equal(state.begun, 16);
    answerOne();
    while (state.begun < 17) await turns(1);
    await turns(50);
    t.equal(state.begun, 17, 'one left, one has begun');
    const isOver = () => state.begun === 40;
    while (!isOver()) {
      answerOne();
      await turns(2);
    }
    // The socket is read again once nobody is held.
    client.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const pump = setInterval(answerOne, 1);
    const text = await answer;
    clearInterval(pump);
    t.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 41);
  },
);

t.test('the headers of open requests are bounded, too', async t => {
  const { route, state, answerOne } = waitingRoute();
  const { socket } = await withServer(t, [route]);
  const client = await socket();
  const answer = readToEnd(client);
  const long = `X-Long: ${'x'.repeat(30_000)}\r\n\r\n`;
  client.write(GET('/waiting').replace('\r\n\r\n', `\r\n${long}`).repeat(9));
  while (state.begun < 3) await turns(1);
  await turns(100);
  t.equal(state.begun, 3, 'which exceed 64 KiB with the third');
  const pump = setInterval(answerOne, 1);
  client.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  t.equal((await answer).match(/HTTP\/1\.1 200 /g)?.length, 10);
  clearInterval(pump);
});

t.test(
  'a client that takes nothing of its answers is asked to before more are made, then closed',
  async t => {
    let begun = 0;
    const large: ServedRoute = {
      method: 'GET',
      path: '/large',
      auth: 'none',
      handle: () => {
        begun++;
        return json(200, { text: 'x'.repeat(4_000_000) });
      },
    };
    const { socket } = await withServer(t, [large], { idleTimeoutMs: 300 });
    const client = (await socket()).pause();
    const isClosed = once(client, 'close');
    client.write(GET('/large').repeat(1_000));
    client.resume().pause();
    await turns(200);
    t.ok(begun <= 16, `${begun} answers of four megabytes were made`);
    // A paused socket sees the end only when it reads again.
    await new Promise(resolve => setTimeout(resolve, 1_000));
    client.resume();
    await isClosed;
    t.ok(begun < 100);
  },
);

t.test('a request that is worked on is no silence', async t => {
  const { route, state, answerOne } = waitingRoute();
  const { socket } = await withServer(t, [route], { idleTimeoutMs: 100 });
  const client = await socket();
  client.write(GET('/waiting'));
  while (state.begun < 1) await turns(1);
  await new Promise(resolve => setTimeout(resolve, 500));
  const isAnswered = once(client, 'data');
  answerOne();
  t.match(String((await isAnswered)[0]), /^HTTP\/1\.1 200 /);
});

t.test('so many connections, and the one without a request for longest gives way', async t => {
  const { route, state } = waitingRoute();
  const { socket } = await withServer(t, [route], { maxClients: 3 });
  const busy = await socket();
  busy.write(GET('/waiting'));
  const first = await socket();
  const second = await socket();
  while (state.begun < 1) await turns(1);
  const young = await socket();
  await once(young.resume(), 'close');
  t.pass('all have just come: a new one is not served');
  await new Promise(resolve => setTimeout(resolve, 1_200));
  second.write(GET('/healthz'));
  await once(second, 'data');
  const isClosed = once(first.resume(), 'close');
  const late = await socket();
  await isClosed;
  late.write(GET('/healthz'));
  t.match(String((await once(late, 'data'))[0]), /^HTTP\/1\.1 200 /);
  t.notOk(busy.destroyed || second.destroyed);
});

t.test('so many of one network, but a trusted proxy may have all', async t => {
  for (const isProxied of [false, true]) {
    const { socket } = await withServer(t, [], { maxClientsPerNetwork: 2, isProxy: () => isProxied });
    const open: Socket[] = [await socket(), await socket(), await socket()];
    const [, , third] = open;
    const outcome = once(third!, isProxied ? 'data' : 'close');
    third!.resume().write(GET('/healthz'));
    await outcome;
    open[0]!.write(GET('/healthz'));
    t.match(String((await once(open[0]!, 'data'))[0]), /^HTTP\/1\.1 200 /, 'those before are served');
    open[1]!.destroy();
  }
});

t.test('what one piece brings is held up to a limit for all connections', async t => {
  const { route } = waitingRoute();
  const { socket, call } = await withServer(t, [route]);
  const clients: Socket[] = [];
  // Each piece of 64 KiB holds more than a thousand.
  for (let n = 0; n < 6; n++) {
    const client = await socket();
    client.resume().write(GET('/waiting').repeat(1_700));
    clients.push(client);
  }
  while (!clients.some(client => client.destroyed)) await turns(10);
  t.equal((await call('/healthz')).status, 200, 'others are served');
});
