import t from 'tap';
import { json, type ServedRoute } from '../../../../src/http/server/route.js';
import { type Call, withServer } from '../with-server.js';

const broken: ServedRoute = {
  method: 'GET',
  path: '/broken',
  auth: 'none',
  handle: () => {
    throw new Error('a secret of /the/machine');
  },
};
const silly: ServedRoute = {
  ...broken,
  path: '/silly',
  handle: () => json(200, {}, { 'X-Broken': 'a\r\nb' }),
};

t.test('successes and errors alike', async t => {
  const { call, house, logged } = await withServer(t, [broken, silly]);
  const inbox = await house.addInbox('agent');
  const message = await house.receive('raw', inbox);
  const calls: [number, string, Call?][] = [
    [200, '/healthz', { headers: { authorization: '' } }],
    [200, '/v1/inboxes'],
    [201, '/v1/inboxes', { body: { local_part: 'other' } }],
    [202, `/v1/inboxes/${inbox}/sending-policy`, { method: 'GET' }],
    [200, `/v1/messages/${message}`],
    [200, `/v1/messages/${message}/raw`],
    [400, '/v1/inboxes', { body: { local_part: '' } }],
    [401, '/v1/inboxes', { headers: { authorization: '' } }],
    [404, '/nothing'],
    [405, '/v1/inboxes', { method: 'DELETE' }],
    [
      413,
      '/v1/inboxes',
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: 'x'.repeat(5000) },
    ],
    [415, '/v1/inboxes', { method: 'POST', body: 'x' }],
    [500, '/broken'],
    [500, '/silly'],
  ];
  const ids = new Set<unknown>();
  for (const [status, path, request] of calls) {
    const answer = await call(path, request);
    t.equal(answer.status, status === 202 ? 200 : status, path);
    t.match(answer.headers['x-request-id'], /^[0-9a-f-]{36}$/, path);
    t.match(answer.headers['cache-control'], /no-store/, path);
    t.equal(answer.headers['x-content-type-options'], 'nosniff', path);
    t.equal(answer.headers['x-powered-by'], undefined);
    if (status >= 400) t.match(answer.json, { error: { code: String, message: String } });
    ids.add(answer.headers['x-request-id']);
  }
  t.equal(ids.size, calls.length, 'each its own');
  const failure = await call('/broken');
  t.equal(failure.json.error.code, 'internal_error');
  t.notMatch(failure.bytes.toString(), /secret|machine|Error:/);
  t.ok(
    logged.some(line => (line as { request_id?: string }).request_id === failure.headers['x-request-id']),
    'the log can be searched for it',
  );
});

t.test('HEAD answers like GET, without a body', async t => {
  const { call, house } = await withServer(t);
  const message = await house.receive('x'.repeat(200_000), await house.addInbox('agent'));
  for (const path of [
    '/v1/inboxes',
    `/v1/messages/${message}/raw`,
    '/v1/nothing',
    `/v1/messages/${message}`,
  ]) {
    const [head, get] = [await call(path, { method: 'HEAD' }), await call(path)];
    t.equal(head.status, get.status, path);
    t.equal(head.bytes.length, 0);
    t.equal(head.headers['content-length'], String(get.bytes.length), path);
    t.equal(head.headers['content-type'], get.headers['content-type']);
  }
});

t.test('405 names the methods', async t => {
  const { call } = await withServer(t);
  t.equal((await call('/v1/inboxes', { method: 'DELETE' })).headers.allow, 'GET, HEAD, POST');
});
