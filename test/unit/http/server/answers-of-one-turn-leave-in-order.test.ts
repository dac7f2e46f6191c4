import t from 'tap';
import { json, type ServedRoute } from '../../../../src/http/server/route.js';
import { readToEnd, withServer } from '../with-server.js';

const LONG_MS = 600_000;

const route = (path: string, handle: ServedRoute['handle']): ServedRoute => ({
  method: 'GET',
  path,
  auth: 'none',
  handle,
});

const ask = (...paths: string[]): string =>
  paths.map(path => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');

t.test('requests that come in one packet are answered in their order, at once or later', async t => {
  const { socket } = await withServer(t, [
    route('/at-once/{n}', ({ params }) => json(200, { at_once: params.n })),
    route('/later/{n}', async ({ params }) => {
      await new Promise(resolve => setImmediate(resolve));
      return json(200, { later: params.n });
    }),
  ]);
  const client = await socket();
  const answers = readToEnd(client);
  client.write(`${ask('/at-once/1', '/later/2', '/at-once/3', '/later/4')}`);
  client.write('GET /at-once/5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  t.same((await answers).match(/\{.*?\}/g), [
    '{"at_once":"1"}',
    '{"later":"2"}',
    '{"at_once":"3"}',
    '{"later":"4"}',
    '{"at_once":"5"}',
  ]);
});

t.test('a stop in the turn of an answer waits for it, and for nothing beyond', async t => {
  let stop = () => {};
  const { server, socket } = await withServer(t, [
    route('/first', () => json(200, { first: true })),
    route('/stop', () => {
      stop();
      return json(200, { stopping: true });
    }),
  ]);
  const stopped = new Promise<void>(resolve => {
    stop = () => void server.stop(LONG_MS).then(resolve);
  });
  const [one, two] = [await socket(), await socket()];
  const answers = [readToEnd(one), readToEnd(two)];
  one.write(ask('/first', '/stop'));
  two.write(ask('/first'));
  await stopped;
  t.same((await answers[0])?.match(/\{.*?\}/g), ['{"first":true}', '{"stopping":true}']);
  t.match(await answers[1], /^$|\{"first":true\}$/, 'in time or not: never half of it');
});

t.test('a client that goes before its answer leaves is no harm to the others', async t => {
  const { socket, call, logged } = await withServer(t, [
    route('/gone', () => {
      gone?.destroy();
      return json(200, { gone: true });
    }),
  ]);
  const gone = await socket();
  gone.write(ask('/gone', '/gone'));
  await new Promise(resolve => gone.once('close', resolve));
  t.equal((await call('/healthz')).status, 200);
  t.same(logged, []);
});
