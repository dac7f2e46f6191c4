import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { listFeedback } from '../../../../src/usecases/accounts/feedback.js';
import { type AccessServer, withAccess } from '../with-access.js';

const give = (access: AccessServer, body: object | string, headers: Record<string, string> = {}) =>
  access.call('/v1/feedback', {
    method: 'POST',
    headers: { authorization: `Bearer ${access.credential}`, 'content-type': 'application/json', ...headers },
    body,
  });

const kept = (access: AccessServer) => listFeedback(access.house, { limit: 100, cursor: null }).feedback;

t.test('it is kept, mailed and answered with its id', async t => {
  const access = await withAccess(t);
  const answer = await give(access, {
    title: ' More\r\nBcc: eve@evil.example ',
    body: 'Zwölf Postfächer, bitte.\n',
  });
  t.equal(answer.status, 201);
  t.match(answer.json, { id: /^[a-f0-9-]{36}$/, status: 'received' });
  t.same(Object.keys(answer.json).sort(), ['id', 'status']);
  t.match(kept(access), [
    {
      id: answer.json.id,
      account_id: access.house.account,
      email: 'owner@elsewhere.example',
      title: 'More\r\nBcc: eve@evil.example',
      body: 'Zwölf Postfächer, bitte.\n',
    },
  ]);
  const [mail] = access.sent;
  t.match(mail, { to: 'postmaster@example.org', subject: 'Feedback: More Bcc: eve@evil.example' });
  t.match(mail?.text, 'Zwölf Postfächer, bitte.');
  t.match(mail?.text, access.house.account);
});

t.test('a mail that fails loses nothing', async t => {
  const access = await withAccess(t);
  access.mailFailure = new Error('no relay');
  t.equal((await give(access, { body: 'hello' })).status, 201);
  t.match(kept(access), [{ title: null, body: 'hello' }]);
});

t.test('what is wrong with it is said, and leaves nothing', async t => {
  const access = await withAccess(t);
  for (const [body, status, code] of [
    [{}, 400, 'invalid_request'],
    [{ body: '' }, 400, 'invalid_request'],
    [{ body: ' \n\t ' }, 400, 'invalid_request'],
    [{ body: 7 }, 400, 'invalid_request'],
    [{ body: 'x', title: null }, 400, 'invalid_request'],
    [{ body: 'x', title: 'ä'.repeat(101) }, 400, 'invalid_request'],
    [{ body: 'x', mood: 'bad' }, 400, 'invalid_request'],
    ['{"body":"\\ud800"}', 400, 'invalid_request'],
    ['[]', 400, 'invalid_json'],
    [{ body: 'x'.repeat(20 * 1024) }, 413, 'body_too_large'],
  ] as const) {
    const answer = await give(access, body);
    t.same([answer.status, answer.json.error?.code], [status, code], JSON.stringify(body).slice(0, 40));
  }
  t.equal((await give(access, { body: 'x' }, { authorization: '' })).status, 401);
  t.same([kept(access), access.sent], [[], []]);
  t.equal(
    (await give(access, { body: 'x', title: 'ä'.repeat(100) })).status,
    201,
    '200 bytes are not too long',
  );
  t.equal((await give(access, { body: 'x', title: ' ' })).status, 201, 'a blank title is none');
});

t.test('there is no limit on how often, and the list comes in pages', async t => {
  const access = await withAccess(t);
  for (let n = 0; n < 25; n++) t.equal((await give(access, { body: `no. ${n}` })).status, 201);
  const first = listFeedback(access.house, { limit: 10, cursor: null });
  const second = listFeedback(access.house, { limit: 20, cursor: first.next_cursor });
  t.same(
    [...first.feedback, ...second.feedback].map(({ body }) => body),
    Array.from({ length: 25 }, (_none, n) => `no. ${24 - n}`),
  );
  t.equal(second.next_cursor, null);
  t.match(
    resultOf(() => listFeedback(access.house, { limit: 1, cursor: 'x' })),
    { failure: { code: 'invalid_cursor' } },
  );
});
