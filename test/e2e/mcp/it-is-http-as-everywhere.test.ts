import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { McpClient } from '../../support/mcp/mcp-client.js';
import { postSend, type Receipt, submission } from '../../support/sending/sending.js';

const box = await startBox(t);
const agent = await createAgent(box);
const other = await createAgent(box, 'other');
const client = new McpClient(box, agent.credential);
const url = `http://127.0.0.1:${box.httpPort}/mcp`;
const ping = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' });

async function refused(t: Test, answer: Promise<Response>, status: number, code: string): Promise<Response> {
  const response = await answer;
  t.equal(response.status, status);
  t.match(await response.json(), { error: { code } });
  return response;
}

t.test('there is nothing but POST', async t => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await refused(t, fetch(url, { method }), 405, 'method_not_allowed');
    t.equal(response.headers.get('allow'), 'POST');
  }
});

t.test('a page of another site gets nothing, whatever key it has', async t => {
  for (const origin of ['https://evil.example', 'null', 'http://localhost:8026']) {
    await refused(t, client.post(ping, { origin }), 403, 'origin_not_allowed');
    await refused(t, client.post(ping, { origin, authorization: '' }), 403, 'origin_not_allowed');
  }
  t.equal((await client.post(ping, { origin: 'http://localhost:8025' })).status, 200, 'our own');
});

t.test('a key is needed, as long as it is good', async t => {
  const response = await refused(t, client.post(ping, { authorization: '' }), 401, 'unauthorized');
  t.equal(response.headers.get('www-authenticate'), 'Bearer');
  await refused(t, client.post(ping, { authorization: 'Bearer pst_wrong' }), 401, 'unauthorized');
  const short = await createAgent(box, 'short');
  const theirs = new McpClient(box, short.credential);
  await theirs.call('get_account');
  await box.cliJson('key', 'revoke', short.keyId);
  await refused(t, theirs.post(ping), 401, 'unauthorized');
});

t.test('a body is as strict and as large as that of a send', async t => {
  await refused(t, client.post('{"jsonrpc": "2.0"'), 400, 'invalid_json');
  await refused(t, client.post(`[${ping}]`), 400, 'invalid_json');
  await refused(t, client.post('{"id": 1, "id": 2}'), 400, 'invalid_json');
  await refused(t, client.post(Uint8Array.of(0x7b, 0xff, 0x7d)), 400, 'invalid_json');
  await refused(t, client.post(ping, { 'content-type': 'text/plain' }), 415, 'unsupported_media_type');
  await refused(t, client.post(Buffer.alloc(8_388_609, 0x20)), 413, 'body_too_large');
});

t.test('what needs no answer gets none', async t => {
  const response = await client.post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  t.strictSame([response.status, await response.text()], [202, '']);
});

t.test(
  'a message that is none, an unknown method and an unknown tool are errors of the protocol',
  async t => {
    t.equal((await client.post('{"hello": "world"}')).status, 400);
    await t.rejects(client.request('resources/list'), { message: /-32601/ });
    await t.rejects(client.request('tools/call', { name: 'erase_message', arguments: {} }), {
      message: /-32602 .*erase_message/,
    });
    await t.rejects(client.request('tools/call', { name: 'toString', arguments: {} }), { message: /-32602/ });
    const listen = { jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params: {} };
    const response = await client.post(JSON.stringify(listen));
    t.match([response.status, await response.json()], [404, { id: 7, error: { code: -32601 } }]);
  },
);

t.test('requests may bring their envelope along in place of a handshake', async t => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const call = (method: string, params: object, name = '') =>
    client
      .post(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } }), {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(name === '' ? {} : { 'mcp-name': name }),
      })
      .then(response => response.json());
  t.match(await call('server/discover', {}), { result: { supportedVersions: ['2026-07-28'] } });
  t.match(await call('tools/list', {}), { result: { tools: [{ name: 'get_service_info' }] } });
  const args = { name: 'get_inbox', arguments: { inbox_id: agent.inboxId } };
  t.match(await call('tools/call', args, 'get_inbox'), {
    result: { structuredContent: { address: agent.address } },
  });
});

t.test('a key of a send means the same at both doors', async t => {
  const body = submission(other.address, { idempotency_key: 'both-1' });
  const first = (await postSend(agent, body)).json<Receipt>();
  const again = await client.call<Receipt>('send_message', { inbox_id: agent.inboxId, ...body });
  t.strictSame([again.replayed, again.message.id], [true, first.message.id]);
  const changed = { inbox_id: agent.inboxId, ...body, subject: 'Other' };
  t.match(await client.failure('send_message', changed), { code: 'idempotency_conflict', retryable: false });
});

t.test('an account reaches its own alone, and bodies have the limits of their operations', async t => {
  const theirs = { inbox_id: other.inboxId };
  t.match(await client.failure('list_messages', theirs), { code: 'not_found' });
  t.match(await client.failure('list_drafts', theirs), { code: 'not_found' });
  const add_labels = ['x'.repeat(20_480)];
  const long = await client.failure('update_message_labels', { message_id: agent.inboxId, add_labels });
  t.match(long, { code: 'body_too_large' });
  const many = Array.from({ length: 200 }, () => randomBytes(16).toString('hex'));
  t.match(await client.failure('bulk_update_message_labels', { message_ids: many, add_labels: ['x'] }), {
    code: 'invalid_message_ids',
  });
});
