import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { writeLetter } from '../../support/letters/letters.js';
import { deliver } from '../../support/smtp/deliver.js';

const ALWAYS = {
  'x-request-id': /^[0-9a-f-]{36}$/,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-type': 'application/json; charset=utf-8',
};

const box = await startBox(t);
const agent = await createAgent(box);

t.test('every answer has its request id and is neither cached nor sniffed', async t => {
  const ids = new Set<unknown>();
  const answers = [
    await agent.api.get('/v1/inboxes'),
    await agent.api.get('/v1/inboxes/nothing'),
    await agent.api.get('/nothing/at/all'),
    await agent.api.post('/v1/inboxes', { local_part: '' }),
    await agent.api.request('PUT', '/v1/inboxes'),
    await box.api().get('/v1/inboxes'),
    await box.api().get('/healthz'),
    await box.api().get('/readyz'),
  ];
  for (const { headers } of answers) {
    t.match(headers, ALWAYS);
    ids.add(headers['x-request-id']);
  }
  t.equal(ids.size, answers.length, 'no two ids are the same');
  t.same(
    answers.map(({ status }) => status),
    [200, 404, 404, 400, 405, 401, 200, 200],
  );
});

t.test('a known path with another method is 405 with the methods that it has', async t => {
  for (const [method, path, allow] of [
    ['PUT', '/v1/inboxes', ['GET', 'HEAD', 'POST']],
    ['POST', `/v1/inboxes/${agent.inboxId}`, ['DELETE', 'GET', 'HEAD', 'PATCH']],
    ['DELETE', `/v1/inboxes/${agent.inboxId}/messages`, ['GET', 'HEAD']],
    ['POST', '/healthz', ['GET', 'HEAD']],
  ] as const) {
    const got = await agent.api.request(method, path);
    t.same([got.status, got.code], [405, 'method_not_allowed'], `${method} ${path}`);
    t.same(got.headers.allow?.split(', ').sort(), allow);
  }
});

t.test('HEAD answers like GET without a body', async t => {
  const id = await deliver(box, agent.address, writeLetter());
  await agent.api.finished(id);
  for (const path of [
    '/v1/inboxes',
    `/v1/inboxes/${agent.inboxId}/messages`,
    `/v1/inboxes/${agent.inboxId}/messages/count`,
    `/v1/messages/${id}`,
    `/v1/messages/${id}/raw`,
    '/v1/messages/nothing',
  ]) {
    const get = await agent.api.get(path);
    const head = await agent.api.request('HEAD', path);
    t.equal(head.status, get.status, path);
    t.equal(head.bytes.length, 0);
    const withoutOwn = ({ date: _d, 'x-request-id': _id, ...rest }: typeof get.headers) => rest;
    t.same(withoutOwn(head.headers), withoutOwn(get.headers));
  }
});

t.test('without a live key the answer is 401 and says how to authenticate', async t => {
  const path = `/v1/inboxes/${agent.inboxId}`;
  for (const authorization of [
    undefined,
    '',
    agent.credential,
    `Basic ${agent.credential}`,
    'Bearer',
    `Bearer ${agent.credential}x`,
    `Bearer ${agent.credential.slice(0, -1)}`,
    `Bearer ${agent.credential} ${agent.credential}`,
    `Bearer pst_${'a'.repeat(43)}`,
  ]) {
    const got = await box.api().get(path, { headers: authorization === undefined ? {} : { authorization } });
    t.same([got.status, got.code], [401, 'unauthorized'], String(authorization));
    t.equal(got.headers['www-authenticate'], 'Bearer');
  }
  t.equal(
    (await box.api().get(path, { headers: { authorization: `bearer  ${agent.credential}` } })).status,
    200,
  );
});
