import t from 'tap';
import { getAccount, putAccount } from '../../../../src/store/records/accounts.js';
import { type Call, withServer } from '../with-server.js';

const MISSING = '01890000-0000-7000-8000-000000000000';
const large = `{"name":"${'x'.repeat(5000)}"}`;
const type = { 'content-type': 'application/json' };

t.test('each request has every fault that comes after the one it is told of', async t => {
  const { call, house } = await withServer(t);
  await house.store.write(writer => {
    const account = getAccount(writer, house.account)!;
    putAccount(writer, { ...account, permissions: { ...account.permissions, delete: false } });
  });
  const inbox = await house.addInbox('agent');
  const wrongKey = { authorization: 'Bearer nonsense' };
  const patch = (call: Call): Call => ({ method: 'PATCH', ...call });
  const of = (id: string) => `/v1/inboxes/${id}`;
  const steps: [string, string, Call, number, string][] = [
    ['path', '/v1/nothing', patch({ headers: wrongKey, body: large }), 404, 'not_found'],
    ['method', of(MISSING), { method: 'PUT', headers: wrongKey, body: large }, 405, 'method_not_allowed'],
    ['key', of(MISSING), patch({ headers: wrongKey, body: large }), 401, 'unauthorized'],
    ['type', of(MISSING), patch({ body: large }), 415, 'unsupported_media_type'],
    ['size', of(MISSING), patch({ headers: type, body: `${large}{` }), 413, 'body_too_large'],
    ['JSON', of(MISSING), patch({ headers: type, body: '{"unknown":1' }), 400, 'invalid_json'],
    ['unknown field', of(MISSING), patch({ body: { unknown: 1 } }), 400, 'invalid_inbox'],
    ['no field', of(MISSING), patch({ body: {} }), 400, 'invalid_inbox'],
    ['type of a field', of(MISSING), patch({ body: { name: 1 } }), 400, 'invalid_name'],
    ['value of a field', of(MISSING), patch({ body: { name: 'a\u0000' } }), 400, 'invalid_name'],
    ['ownership', of(MISSING), patch({ body: { name: 'a' } }), 404, 'not_found'],
    ['ownership before permission', of(MISSING), { method: 'DELETE' }, 404, 'not_found'],
    ['permission', of(inbox), { method: 'DELETE' }, 403, 'operation_not_allowed'],
    ['query before ownership', `${of(MISSING)}/messages?limti=1`, {}, 400, 'invalid_search'],
    ['limit before ownership', `${of(MISSING)}/messages?limit=0`, {}, 400, 'invalid_limit'],
    ['key before query', `${of(inbox)}/messages?limti=1`, { headers: wrongKey }, 401, 'unauthorized'],
    ['ownership before cursor', `${of(MISSING)}/messages?cursor=x`, {}, 404, 'not_found'],
    ['cursor', `${of(inbox)}/messages?cursor=x`, {}, 400, 'invalid_cursor'],
    ['count takes none', `${of(inbox)}/messages/count?limit=1`, {}, 400, 'invalid_search'],
  ];
  for (const [name, path, request, status, code] of steps) {
    const answer = await call(path, request);
    t.equal(answer.status, status, name);
    t.equal(answer.json.error.code, code, name);
    t.equal(typeof answer.json.error.message, 'string');
  }
});

t.test('fields of a new inbox have codes of their own', async t => {
  const { call } = await withServer(t);
  const bodies: [object, string][] = [
    [{}, 'invalid_local_part'],
    [{ local_part: 7 }, 'invalid_local_part'],
    [{ local_part: null }, 'invalid_local_part'],
    [{ local_part: 'a b' }, 'invalid_local_part'],
    [{ local_part: 'a', name: [] }, 'invalid_name'],
    [{ local_part: 'a', sender_name: 'x'.repeat(300) }, 'invalid_name'],
    [{ local_part: 'a', idempotency_key: null }, 'invalid_idempotency_key'],
    [{ local_part: 'a', idempotency_key: 'a b' }, 'invalid_idempotency_key'],
    [{ local_part: 'a', address: 'a@example.org' }, 'invalid_inbox'],
    [{ local_part: 'a', domain: 'elsewhere.example' }, 'invalid_inbox'],
    [{ local_part: 'a', proto: 1 }, 'invalid_inbox'],
  ];
  for (const [body, code] of bodies) {
    const answer = await call('/v1/inboxes', { body });
    t.strictSame([answer.status, answer.json.error.code], [400, code], JSON.stringify(body));
  }
  for (const body of ['{"local_part":"a","__proto__":{}}', '{"local_part":"a","constructor":1}']) {
    t.equal(
      (await call('/v1/inboxes', { method: 'POST', headers: type, body })).json.error.code,
      'invalid_inbox',
      body,
    );
  }
});

t.test('a path may be written as a whole URL', async t => {
  const { call } = await withServer(t);
  t.equal((await call('http://example.org:8025/v1/inboxes')).status, 200);
  t.equal((await call('HTTPS://example.org/v1/inboxes?x=1')).status, 200);
  for (const path of ['http://example.org', 'http://example.org?x', 'ftp://example.org/v1/inboxes', '*']) {
    t.equal((await call(path)).status, 404, path);
  }
});

t.test('the key is read as RFC 6750 writes it, and its scheme in any case', async t => {
  const { call, credential } = await withServer(t);
  for (const authorization of [`Bearer ${credential}`, `bearer ${credential}`, `BEARER   ${credential}`]) {
    t.equal(
      (await call('/v1/inboxes', { headers: { authorization } })).status,
      200,
      authorization.slice(0, 9),
    );
  }
  for (const authorization of [
    '',
    credential,
    `Basic ${credential}`,
    `Bearer${credential}`,
    `Bearer ${credential} x`,
    'Bearer',
  ]) {
    const answer = await call('/v1/inboxes', { headers: { authorization } });
    t.equal(answer.status, 401);
    t.equal(answer.headers['www-authenticate'], 'Bearer');
  }
});
