import t from 'tap';
import { json, type ServedRoute } from '../../../../src/http/server/route.js';
import { Router } from '../../../../src/http/server/router.js';

const route = (method: ServedRoute['method'], path: string): ServedRoute & { operationId: string } => ({
  operationId: `${method} ${path}`,
  method,
  path,
  auth: 'none',
  handle: () => json(200, {}),
});

const router = new Router([
  route('GET', '/v1/messages/{message_id}'),
  route('PATCH', '/v1/messages/{message_id}'),
  route('DELETE', '/v1/messages/{message_id}'),
  route('PATCH', '/v1/messages/labels'),
  route('GET', '/v1/messages/{message_id}/attachments/{attachment_id}'),
  route('POST', '/v1/inboxes'),
  route('GET', '/v1/inboxes'),
]);

const matched = (method: string, path: string) => {
  const match = router.match(method, path);
  return match.kind === 'route' ? [match.route.operationId, match.params] : match;
};

t.test('a literal wins over a parameter, where it has the method', async t => {
  t.strictSame(matched('PATCH', '/v1/messages/labels'), ['PATCH /v1/messages/labels', {}]);
  t.strictSame(matched('GET', '/v1/messages/labels'), [
    'GET /v1/messages/{message_id}',
    { message_id: 'labels' },
  ]);
});

t.test('parameters are decoded, and a slash in one stays in it', async t => {
  t.strictSame(matched('GET', '/v1/messages/a%2Fb/attachments/%C3%A9'), [
    'GET /v1/messages/{message_id}/attachments/{attachment_id}',
    { message_id: 'a/b', attachment_id: 'é' },
  ]);
  t.strictSame(matched('GET', '/v1/messages/%zz'), ['GET /v1/messages/{message_id}', { message_id: '%zz' }]);
});

t.test('HEAD goes where GET goes', async t => {
  t.strictSame(matched('HEAD', '/v1/inboxes'), ['GET /v1/inboxes', {}]);
});

t.test('another method of a known path is told what there is', async t => {
  t.strictSame(matched('DELETE', '/v1/inboxes'), { kind: 'wrong-method', allow: ['GET', 'HEAD', 'POST'] });
  t.strictSame(matched('POST', '/v1/messages/labels'), {
    kind: 'wrong-method',
    allow: ['DELETE', 'GET', 'HEAD', 'PATCH'],
  });
  t.strictSame(matched('OPTIONS', '/v1/messages/x'), {
    kind: 'wrong-method',
    allow: ['DELETE', 'GET', 'HEAD', 'PATCH'],
  });
});

t.test('anything else is unknown', async t => {
  for (const path of [
    '/',
    '',
    '/v1',
    '/v1/',
    '/v1/inboxes/',
    '//v1/inboxes',
    '/V1/inboxes',
    '/v1/messages/',
    '*',
    '/v1/messages/x/attachments',
  ]) {
    t.strictSame(matched('GET', path), { kind: 'unknown' }, path);
  }
});

t.test('two routes of one name are a mistake of ours', async t => {
  t.throws(() => new Router([route('GET', '/a/{b}'), route('GET', '/a/{b}')]), /two routes/);
  t.throws(() => new Router([route('GET', '/a/{b}'), route('GET', '/a/{c}/d')]), /called \{b\} elsewhere/);
});
