import t from 'tap';
import { type DraftId, idToBytes, type MessageId } from '../../../../src/domain/ids.js';
import { bytesKey, rawValue, type Table } from '../../../../src/store/engine/tables.js';
import { sentTable } from '../../../../src/store/mailbox/messages.js';
import { draftsTable } from '../../../../src/store/records/drafts.js';
import { type TestServer, withServer } from '../with-server.js';

const WHOLE = { to: [{ address: 'ann@x.example' }], subject: 'Notes', text: 'Hello' };

/** Makes a record unreadable, so that whoever looks at it fails. */
function damage({ house }: TestServer, table: { readonly name: string }, id: string): Promise<void> {
  const raw: Table<Buffer, Buffer> = { name: table.name, encodeKey: bytesKey, ...rawValue };
  return house.store.write(writer => writer.put(raw, idToBytes(id), Buffer.from('?')));
}

// Drafts answer `draft_unavailable`, sent copies and sends `outbound_unavailable`, the rest `internal_error`: see
// `uncertain` in src/contract/operation.ts.
t.test('a failure that nobody foresaw is told by the code of its operation', async t => {
  const server = await withServer(t);
  const { call, house, logged } = server;
  const inbox = await house.addInbox('agent');
  const draft: DraftId = (await call(`/v1/inboxes/${inbox}/drafts`, { body: WHOLE })).json.id;
  const sent: MessageId = (await call(`/v1/inboxes/${inbox}/sent`, { body: WHOLE })).json.message.id;
  await damage(server, draftsTable, draft);
  await damage(server, sentTable, sent);
  const answer = { message_id: sent, text: 'Yes' };
  const rows: readonly (readonly [string, string, object | undefined, number, string])[] = [
    ['GET', `/v1/drafts/${draft}`, undefined, 503, 'draft_unavailable'],
    ['PATCH', `/v1/drafts/${draft}`, { text: 'x' }, 503, 'draft_unavailable'],
    ['DELETE', `/v1/drafts/${draft}`, undefined, 503, 'draft_unavailable'],
    ['POST', `/v1/drafts/${draft}/send`, {}, 503, 'draft_unavailable'],
    ['GET', `/v1/inboxes/${inbox}/drafts`, undefined, 503, 'draft_unavailable'],
    [
      'POST',
      `/v1/inboxes/${inbox}/drafts`,
      { source: { action: 'reply', message_id: sent } },
      503,
      'draft_unavailable',
    ],
    ['GET', `/v1/sent/${sent}`, undefined, 503, 'outbound_unavailable'],
    ['POST', `/v1/inboxes/${inbox}/sent`, { ...WHOLE, in_reply_to: sent }, 503, 'outbound_unavailable'],
    ['POST', `/v1/inboxes/${inbox}/reply`, answer, 503, 'outbound_unavailable'],
    ['POST', `/v1/inboxes/${inbox}/reply-all`, answer, 503, 'outbound_unavailable'],
    ['POST', `/v1/inboxes/${inbox}/forward`, { message_id: sent, to: WHOLE.to }, 503, 'outbound_unavailable'],
    ['DELETE', `/v1/sent/${sent}`, undefined, 500, 'internal_error'],
    ['PATCH', `/v1/sent/${sent}`, { add_labels: ['a'] }, 500, 'internal_error'],
  ];
  for (const [method, path, body, status, code] of rows) {
    const got = await call(path, body === undefined ? { method } : { method, body });
    t.same([got.status, got.json.error.code], [status, code], `${method} ${path}`);
    t.notMatch(got.json.error.message, /version|damaged/, 'the cause is for the log');
  }
  t.equal(logged.filter(line => 'request_id' in line).length, rows.length, 'each of them is logged');
});

t.test('a queue that takes nothing is foreseen, and says the same', async t => {
  const server = await withServer(t);
  const { call, house, desk } = server;
  const inbox = await house.addInbox('agent');
  const draft = (await call(`/v1/inboxes/${inbox}/drafts`, { body: WHOLE })).json.id;
  const sent = (await call(`/v1/inboxes/${inbox}/sent`, { body: WHOLE })).json.message.id;
  desk.isReady = false;
  const rows = [
    [`/v1/inboxes/${inbox}/sent`, WHOLE, 'outbound_unavailable'],
    [`/v1/inboxes/${inbox}/reply`, { message_id: sent, text: 'Yes' }, 'outbound_unavailable'],
    [`/v1/inboxes/${inbox}/forward`, { message_id: sent, to: WHOLE.to }, 'outbound_unavailable'],
    [`/v1/drafts/${draft}/send`, {}, 'draft_unavailable'],
  ] as const;
  for (const [path, body, code] of rows) {
    const got = await call(path, { body });
    t.same([got.status, got.json.error.code], [503, code], path);
    t.match(got.json.error.message, /nothing was sent or charged, and the key is unused/);
  }
  t.match((await call(`/v1/drafts/${draft}`)).json, { state: 'draft' });
  desk.isReady = true;
  for (const [path, body] of rows) t.equal((await call(path, { body })).status, 201, path);
});
