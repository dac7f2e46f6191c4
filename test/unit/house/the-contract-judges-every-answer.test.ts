import t from 'tap';
import { openApiDocument } from '../../../src/http/openapi/openapi-document.js';
import { Contract, type Exchange } from '../../support/contract/contract.js';
import { SERVICE } from '../http/openapi/parts.js';
import { houseRoutes } from '../http/with-server.js';
import { withHouse } from '../usecases/with-house.js';

const contract = new Contract(openApiDocument(houseRoutes(await withHouse(t)), SERVICE));

const HEADERS = {
  'x-request-id': '1',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-type': 'application/json; charset=utf-8',
};

const INBOX = {
  id: '01936f3c-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  local_part: 'agent',
  address: 'agent@example.org',
  name: null,
  sender_name: null,
  created_at: '2026-01-31T12:00:00.000Z',
};

/** What is wrong with an answer that is right but for what the test changes. */
function judge(changes: Partial<Exchange> & { readonly json?: object }): string[] {
  const { json = INBOX, ...rest } = changes;
  const bytes = rest.bytes ?? Buffer.from(JSON.stringify(json));
  return contract.complaints({
    method: 'GET',
    path: `/v1/inboxes/${INBOX.id}`,
    status: 200,
    ...rest,
    bytes,
    headers: { 'content-length': String(bytes.length), ...HEADERS, ...rest.headers },
  });
}

const failure = (code: string) => ({ error: { code, message: 'So it is.' } });

t.test('an answer as it should be is let pass', async t => {
  t.strictSame(judge({}), []);
  t.strictSame(judge({ status: 404, json: failure('not_found') }), []);
  t.strictSame(judge({ method: 'HEAD', bytes: Buffer.alloc(0) }), []);
  t.strictSame(
    judge({ method: 'PUT', status: 405, json: failure('method_not_allowed'), headers: { allow: 'GET' } }),
    [],
  );
});

t.test('paths that are not in the document are left alone', async t => {
  t.strictSame(judge({ path: '/nothing', status: 418, headers: { 'x-request-id': undefined } }), []);
  t.strictSame(judge({ path: '/v1/inboxes//messages', status: 404 }), []);
});

t.test('a status that is not documented', async t => {
  t.strictSame(judge({ status: 201 }), ['the document does not name this status']);
  t.strictSame(judge({ status: 403, json: failure('operation_not_allowed') }), [
    'the document does not name this status',
  ]);
  t.match(judge({ method: 'POST', status: 200 }), [/is not answered with 405/]);
  t.match(judge({ method: 'POST', status: 405, headers: { allow: 'GET' } }), [/is not answered with 405/]);
});

t.test('a code that is not documented for the operation and the status', async t => {
  t.match(judge({ status: 404, json: failure('invalid_limit') }), [/does not name the code invalid_limit/]);
  t.match(judge({ status: 401, json: failure('unauthorized') }), ['the header WWW-Authenticate is missing']);
  t.strictSame(
    judge({ status: 401, json: failure('unauthorized'), headers: { 'www-authenticate': 'Bearer' } }),
    [],
  );
});

t.test('a body that breaks its schema', async t => {
  const { name, ...withoutName } = INBOX;
  t.match(judge({ json: withoutName }), [/must have required property 'name'/]);
  t.match(judge({ json: { ...INBOX, created_at: '2026-01-31' } }), [/created_at/, /created_at/]);
  t.match(judge({ json: { ...INBOX, secret: 1 } }), [/must NOT have additional properties/]);
  t.match(judge({ status: 404, json: { message: 'Gone.' } }), [/required property 'error'/, /additional/]);
  t.match(judge({ bytes: Buffer.from('{') }), ['the body is no JSON']);
});

t.test('headers and content types that are missing or wrong', async t => {
  t.match(judge({ headers: { 'x-request-id': undefined } }), [/X-Request-ID/, /X-Request-ID/]);
  t.match(judge({ headers: { 'cache-control': 'private' } }), ['Cache-Control is not no-store']);
  t.match(judge({ headers: { 'x-content-type-options': undefined } }), [/nosniff/]);
  t.match(judge({ headers: { 'content-type': 'text/html' } }), [/content type "text\/html"/]);
  t.match(judge({ headers: { 'content-length': '1' } }), ['Content-Length is wrong']);
  t.match(judge({ method: 'HEAD' }), ['an answer to HEAD has a body']);
  const created = { ...INBOX, replayed: false, idempotency_expires_at: INBOX.created_at };
  const post = { method: 'POST', path: '/v1/inboxes', status: 201, json: created };
  t.match(judge(post), ['the header Location is missing']);
  t.strictSame(judge({ ...post, headers: { location: '/v1/inboxes/1' } }), []);
});

t.test('an answer of one status in the clothes of another', async t => {
  const replayed = { ...INBOX, replayed: true, idempotency_expires_at: INBOX.created_at };
  const headers = { location: '/v1/inboxes/1' };
  const post = { method: 'POST', path: '/v1/inboxes', headers };
  t.match(judge({ ...post, status: 201, json: replayed }), [/replayed must be equal to constant/]);
  t.match(judge({ ...post, status: 200, json: INBOX }), [/'replayed'/, /'idempotency_expires_at'/]);
});

t.test('a request that was accepted though the document forbids it', async t => {
  const headers = { location: '/v1/inboxes/1' };
  const post = { method: 'POST', path: '/v1/inboxes', status: 201, headers };
  t.match(judge({ ...post, body: { local_part: '-' } }), [/accepted, but not as documented: \/local_part/]);
  t.match(judge({ ...post, body: { local_part: 'a', colour: 1 } }), [/additional properties/]);
  const list = { path: '/v1/inboxes/1/messages', json: { messages: [], next_cursor: null } };
  t.strictSame(judge({ ...list, path: `${list.path}?limit=5&labels_any=a&labels_any=b` }), []);
  t.match(judge({ ...list, path: `${list.path}?limit=500` }), [/accepted, but not as documented: limit/]);
  t.match(judge({ ...list, path: `${list.path}?limits=5` }), [/there is no parameter limits/]);
});

t.test('a literal segment goes before a parameter', async t => {
  const path = '/v1/messages/labels';
  const json = { messages: [{ id: '1', labels: [] }] };
  t.strictSame(judge({ method: 'PATCH', path, json }), []);
  t.match(judge({ method: 'GET', path, json }), [/must/], 'the message that is called so');
});
