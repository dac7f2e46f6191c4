import { once } from 'node:events';
import t from 'tap';
import { json, type ServedRoute } from '../../../../src/http/server/route.js';
import { readToEnd, withServer } from '../with-server.js';

const LONG_MS = 600_000;

/** A route that answers when it is told to. */
function slowRoute() {
  let answer = () => {};
  let begun = () => {};
  const isBegun = new Promise<void>(resolve => {
    begun = resolve;
  });
  const route: ServedRoute = {
    method: 'GET',
    path: '/slow',
    auth: 'none',
    handle: async () => {
      begun();
      await new Promise<void>(resolve => {
        answer = resolve;
      });
      return json(200, { slow: true });
    },
  };
  return { route, isBegun, answer: () => answer() };
}

t.test(
  'a request in hand is answered, idle connections are closed, and nothing is waited for beyond',
  async t => {
    const slow = slowRoute();
    const { server, socket, call } = await withServer(t, [slow.route]);
    const idle = await socket();
    idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    const client = await socket();
    const answer = readToEnd(client);
    client.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await slow.isBegun;
    const isIdleClosed = once(idle, 'close');
    const stopped = server.stop(LONG_MS);
    await isIdleClosed;
    await t.rejects(call('/healthz'), { code: 'ECONNREFUSED' });
    slow.answer();
    await stopped;
    const text = await answer;
    t.match(text, /^HTTP\/1\.1 200 /);
    t.match(text, /connection: close/i);
    t.match(text, /\{"slow":true\}$/);
  },
);

t.test('what does not end in time is cut off', async t => {
  const slow = slowRoute();
  const { server, socket } = await withServer(t, [slow.route]);
  const client = await socket();
  client.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await slow.isBegun;
  await server.stop(0);
  t.pass('it has stopped');
  slow.answer();
});
