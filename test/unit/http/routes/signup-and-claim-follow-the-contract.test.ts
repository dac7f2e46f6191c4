import t from 'tap';
import { findAccountByEmail } from '../../../../src/store/records/accounts.js';
import { signupAnswersTable } from '../../../../src/store/records/approvals.js';
import { type AccessServer, withAccess } from '../with-access.js';

const type = { 'content-type': 'application/json' };
/** Every call from another address, so that limits do not meet the test. */
let n = 0;
const post = (access: AccessServer, path: string, body: object | string, headers = {}) =>
  access.call(path, {
    method: 'POST',
    headers: {
      ...(typeof body === 'string' ? type : {}),
      'x-forwarded-for': `10.0.${n >> 8}.${n++ & 255}`,
      ...headers,
    },
    body,
  });

const PROXY = { trustedProxies: ['127.0.0.1'] };

t.test('a signup says where the human goes, and leaves nothing behind', async t => {
  const access = await withAccess(t, PROXY);
  const trail = access.trail();
  const answer = await post(access, '/v1/signups', {});
  t.equal(answer.status, 202);
  t.match(answer.json, {
    status: 'awaiting_human',
    approval_url: 'https://mail.example.org/approve',
    message: String,
  });
  t.same(Object.keys(answer.json).sort(), ['approval_url', 'message', 'status']);
  t.match(answer.headers, { 'x-request-id': /./, 'cache-control': 'no-store' });
  t.same([access.sent, access.trail()], [[], trail]);
});

t.test('bodies of signups: an empty object and nothing else', async t => {
  const access = await withAccess(t, PROXY);
  for (const [body, status, code] of [
    ['{}', 202, undefined],
    [' { } ', 202, undefined],
    ['{"email":"a@b.example"}', 400, 'invalid_request'],
    ['[]', 400, 'invalid_json'],
    ['null', 400, 'invalid_json'],
    ['', 400, 'invalid_json'],
    [`{"a":"${'x'.repeat(4096)}"}`, 413, 'body_too_large'],
  ] as const) {
    const answer = await post(access, '/v1/signups', body);
    t.same([answer.status, answer.json.error?.code], [status, code], body.slice(0, 40));
  }
  t.equal((await post(access, '/v1/signups', '{}', { 'content-type': 'text/plain' })).status, 415);
});

t.test('bodies of claims', async t => {
  const access = await withAccess(t, PROXY);
  for (const [body, status, code] of [
    [{ phrase: 'six words that nobody has approved' }, 400, 'invalid_claim'],
    [{ phrase: '' }, 400, 'invalid_claim'],
    [{}, 400, 'invalid_request'],
    [{ phrase: 7 }, 400, 'invalid_request'],
    [{ phrase: null }, 400, 'invalid_request'],
    [{ phrase: 'x', email: 'a@b.example' }, 400, 'invalid_request'],
    ['{"phrase":"a","phrase":"b"}', 400, 'invalid_json'],
    [[], 400, 'invalid_json'],
    [`{"phrase":"${'x'.repeat(4096)}"}`, 413, 'body_too_large'],
  ] as const) {
    const answer = await post(access, '/v1/claims', body as object | string);
    t.same([answer.status, answer.json.error.code], [status, code], JSON.stringify(body).slice(0, 40));
  }
});

t.test('a claim gives what the contract says, and answers are never in its way', async t => {
  const access = await withAccess(t, { ...PROXY, policy: { policy: 'open' } });
  const answers: [unknown, string | null][] = [
    ['  heard of it  ', 'heard of it'],
    ['', null],
    ['x'.repeat(500), 'x'.repeat(500)],
    ['x'.repeat(501), null],
    [null, null],
    [7, null],
    [false, null],
    [['a', { b: [] }], null],
    [{ deep: { er: [1, 2, 3] } }, null],
  ];
  for (const [at, [value, kept]] of answers.entries()) {
    const email = `human${at}@new.example`;
    const phrase = await access.phraseFor(email);
    const body = { phrase, discovery_source: value, intended_use: 'mail' };
    const answer = await post(access, '/v1/claims', body);
    t.equal(answer.status, 201, JSON.stringify(value));
    t.match(answer.json, {
      account_id: /^[a-f0-9-]{36}$/,
      credential: /^pst_[A-Za-z0-9_-]{43}$/,
      token_type: 'Bearer',
      message: /./,
    });
    t.same(Object.keys(answer.json).sort(), ['account_id', 'credential', 'message', 'token_type']);
    const stored = access.store.read(reader =>
      reader.get(signupAnswersTable, findAccountByEmail(reader, email)!.id),
    );
    t.match(stored, { discoverySource: kept, intendedUse: 'mail' });
    t.equal((await post(access, '/v1/claims', body)).json.error.code, 'invalid_claim', 'once');
  }
});

t.test('a key that is revoked is refused from the next request on', async t => {
  const access = await withAccess(t, PROXY);
  const { revokeKeyById, listAccountKeys } = await import('../../../../src/usecases/accounts/api-keys.js');
  const phrase = await access.phraseFor('owner@elsewhere.example');
  const { credential } = (await post(access, '/v1/claims', { phrase })).json;
  const list = () => access.call('/v1/inboxes', { headers: { authorization: `Bearer ${credential}` } });
  t.equal((await list()).status, 200);
  const keys = listAccountKeys(access.house, access.house.account);
  const claimed = keys.at(-1)!.key_id;
  await revokeKeyById(access.house, claimed);
  const refused = await list();
  t.same([refused.status, refused.headers['www-authenticate']], [401, 'Bearer']);
  t.equal(
    (await access.call('/v1/inboxes', { headers: { authorization: `Bearer ${access.credential}` } })).status,
    200,
    'others go on',
  );
  t.equal(access.trail().at(-1), 'key_revoked');
});
