import { get } from 'node:http';
import t from 'tap';
import { letter } from '../../usecases/threads/with-threads.js';
import { request, type TestServer, withServer } from '../with-server.js';

/** A stream of events, and what it has said so far. */
async function openStream(
  { port, credential }: TestServer,
  path: string,
  headers: Record<string, string> = {},
) {
  const stream = get({
    host: '127.0.0.1',
    port,
    path,
    agent: false,
    headers: { authorization: `Bearer ${credential}`, accept: 'text/event-stream', ...headers },
  });
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    stream.once('response', resolve).once('error', reject);
  });
  stream.on('error', () => {});
  response.on('error', () => {});
  let text = '';
  let onMore = (): void => {};
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    onMore();
  });
  const ended = new Promise<void>(resolve => response.once('close', resolve));
  return {
    response,
    ended,
    text: () => text,
    /** Resolves when it has said this. */
    until: (pattern: RegExp) =>
      new Promise<string>(resolve => {
        onMore = () => {
          if (pattern.test(text)) resolve(text);
        };
        onMore();
      }),
    close: () => stream.destroy(),
  };
}

const lastId = (text: string): string => [...text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? '';

t.test('a request is held back until there is an event', async t => {
  const server = await withServer(t);
  const { call, house } = server;
  const inbox = await house.addInbox('agent');
  const { next_cursor: start } = (await call('/v1/events?after=now')).json;
  const waiting = call(`/v1/events?after=${start}&wait=50&types=message.received`);
  const id = await letter(house, inbox, 'one');
  const { status, json } = await waiting;
  t.equal(status, 200);
  t.match(json, { events: [{ type: 'message.received', message_id: id, summary: { id } }] });
  t.match((await call(`/v1/events?after=${json.next_cursor}&wait=0`)).json, { events: [] });
  t.match((await call('/v1/events?types=inbox.created&types=message.failed&limit=1')).json, {
    events: [{ type: 'inbox.created', inbox_id: inbox }],
  });
});

t.test('a list waits for its next message', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const path = `/v1/inboxes/${inbox}/messages`;
  const { next_since: since } = (await call(`${path}?wait=0`)).json;
  const waiting = call(`${path}?since=${since}&wait=50&subject=hello&include=preview`);
  await letter(house, inbox, 'one', [], { fields: { subject: 'Other' } });
  const id = await letter(house, inbox, 'two', [], { fields: { subject: 'Hello' } });
  const { json } = await waiting;
  t.match(json, { messages: [{ id, preview: null }], next_cursor: null });
  t.match((await call(`${path}?since=${json.next_since}`)).json, { messages: [] });
  t.equal((await call(`${path}?since=${since}&limit=2`)).json.error.code, 'invalid_search');
  t.equal((await call(`${path}?since=nonsense`)).json.error.code, 'invalid_cursor');
});

t.test('what is asked for wrongly is refused', async t => {
  const { call } = await withServer(t);
  const codes: Record<string, string> = {
    'wait=51': 'invalid_search',
    'wait=-1': 'invalid_search',
    'wait=1.5': 'invalid_search',
    'limit=0': 'invalid_limit',
    'types=none': 'invalid_search',
    'after=none': 'invalid_cursor',
    'after=now&after=now': 'invalid_cursor',
    'inbox_id=none': 'not_found',
    'unknown=1': 'invalid_search',
  };
  for (const [query, code] of Object.entries(codes)) {
    t.equal((await call(`/v1/events?${query}`)).json.error.code, code, query);
  }
  t.equal((await call('/v1/events', { headers: { authorization: '' } })).status, 401);
});

t.test('the same events come as a stream', async t => {
  const server = await withServer(t);
  const { house } = server;
  const inbox = await house.addInbox('agent');
  const stream = await openStream(server, '/v1/events');
  t.match(stream.response.headers, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  const first = await stream.until(/inbox\.created.*\n\n/);
  t.match(first, /^retry: \d+\nid: \S{20}\n\nid: \S{20}\nevent: inbox\.created\ndata: \{.*\}\n\n$/);
  const id = await letter(house, inbox, 'one');
  const all = await stream.until(/message\.received.*\n\n/);
  const data = [...all.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? ''));
  t.match(data[1], { type: 'message.received', message_id: id, sequence: 2, summary: { id } });
  stream.close();
  await letter(house, inbox, 'two');
  const again = await openStream(server, '/v1/events?after=now&types=message.received', {
    'last-event-id': lastId(all),
  });
  t.match(await again.until(/message\.received.*\n\n/), /"sequence":3/, 'it goes on where it was');
  again.close();
});

t.test('a stream that cannot begin is refused as JSON', async t => {
  const server = await withServer(t);
  const headers = { authorization: `Bearer ${server.credential}`, accept: 'text/event-stream' };
  const refused = await request(server.port, '/v1/events', { headers: { ...headers, 'last-event-id': 'x' } });
  t.match(refused, { status: 400, json: { error: { code: 'invalid_cursor' } } });
  const head = await request(server.port, '/v1/events', { method: 'HEAD', headers });
  t.match(head, { status: 200, headers: { 'content-type': 'text/event-stream' } });
});

t.test('a client that leaves is waited for no longer', async t => {
  const server = await withServer(t);
  const { waiters } = server.events;
  const stream = await openStream(server, '/v1/events');
  const socket = await server.socket();
  socket.write(
    `GET /v1/events?after=now&wait=50 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.credential}\r\n\r\n`,
  );
  const turn = () => new Promise(resolve => setTimeout(resolve, 5));
  while (waiters.count < 2) await turn();
  stream.close();
  socket.destroy();
  while (waiters.count > 0) await turn();
  t.equal(waiters.count, 0);
  t.strictSame(server.logged, []);
});

t.test('when the service stops every wait is answered', async t => {
  const server = await withServer(t);
  const { waiters } = server.events;
  const stream = await openStream(server, '/v1/events');
  const waiting = server.call('/v1/events?after=now&wait=50');
  while (waiters.count < 2) await new Promise(resolve => setTimeout(resolve, 5));
  const stopped = server.server.stop(60_000);
  waiters.stop();
  t.match(await waiting, { status: 200, json: { events: [] }, headers: { connection: 'close' } });
  await stream.ended;
  await stopped;
  t.pass('and no connection is left');
});

t.test('a reader that takes nothing keeps nothing in memory', async t => {
  const server = await withServer(t);
  const { house } = server;
  const inbox = await house.addInbox('agent');
  const stream = await openStream(server, '/v1/events?types=message.received');
  await stream.until(/retry/);
  stream.response.pause();
  const subject = 'x'.repeat(900);
  for (let n = 0; n < 100; n++) await letter(house, inbox, `${n}`, [], { fields: { subject } });
  stream.response.resume();
  const text = await stream.until(/"sequence":101\D/);
  const sequences = [...text.matchAll(/"sequence":(\d+)/g)].map(([, number]) => Number(number));
  t.strictSame(
    sequences,
    Array.from({ length: 100 }, (_, at) => at + 2),
    'all come, in their order',
  );
  stream.close();
});

t.test('a stream that has nothing to tell tells its place, past what does not fit', async t => {
  const server = await withServer(t);
  const { call, house } = server;
  const inbox = await house.addInbox('agent');
  const stream = await openStream(server, '/v1/events?after=now&types=inbox.deleted');
  const first = lastId(await stream.until(/^id: /m));
  await letter(house, inbox, 'one');
  const place = lastId(await stream.until(/^: heartbeat\nid: \S+\n\n/m));
  stream.close();
  t.match((await call(`/v1/events?after=${first}`)).json, { events: [{ type: 'message.received' }] });
  t.strictSame((await call(`/v1/events?after=${place}`)).json.events, []);
});
