import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { McpClient, type Tool } from '../../support/mcp/mcp-client.js';
import { firstReceived } from '../../support/sending/sending.js';
import { deliver } from '../../support/smtp/deliver.js';

/*
 * Each tool once for success and once for the error that is met most, over the real daemon. The client holds arguments
 * and results against the schemas that the daemon lists.
 */

const box = await startBox(t, { env: { POSTERN_MCP_ALLOW_ERASE: 'true', POSTERN_LIMITS_INBOXES: '5' } });
const agent = await createAgent(box);
const peer = await createAgent(box, 'peer');
const client = new McpClient(box, agent.credential);
const { inboxId: inbox_id } = agent;

const NOWHERE = '01936f3c-1a2b-7c3d-8e4f-5a6b7c8d9e0f';
const to = [{ address: peer.address, name: 'Peer' }];
const notes = { inbox_id, to, subject: 'Notes', text: 'Here they are.' };
const file = { filename: 'a.txt', type: 'text/plain', content: 'YWJj' };

const letter = mimeLetter({
  text: 'Hello',
  files: [{ filename: 'b.bin', type: 'application/x-b', bytes: Buffer.from('twelve bytes') }],
});
const receive = async (): Promise<string> => {
  const id = await deliver(box, agent.address, letter);
  await agent.api.finished(id);
  return id;
};
const send = async (more: object = {}): Promise<string> => {
  const receipt = await client.call<{ message: { id: string } }>('send_message', { ...notes, ...more });
  return receipt.message.id;
};
const draft = async (more: object = {}): Promise<string> =>
  (await client.call<{ id: string }>('create_draft', { inbox_id, ...more })).id;

const upload = async (): Promise<string> =>
  (await client.call<{ upload_id: string }>('create_upload', { content: file.content })).upload_id;

/** A place in the feed with a letter after it. */
const letterPlace = async (): Promise<string> => {
  const { next_cursor } = await client.call<{ next_cursor: string }>('list_events', { after: 'now' });
  await receive();
  return next_cursor;
};

const received = await receive();
const sent = await send({ attachments: [file] });
await firstReceived(peer);
const { thread_id } = await agent.api.detail(received);
const { thread_id: sentThread } = (await agent.api.get(`/v1/sent/${sent}`)).json<{ thread_id: string }>();

interface Row {
  /** Arguments of a call that succeeds, and a part of what it gives. */
  readonly works: object | (() => Promise<object>);
  readonly gives: object;
  /** Arguments of a call that fails, and its code. */
  readonly fails: object;
  readonly code: string;
}

const unknownInbox = { fails: { inbox_id: NOWHERE }, code: 'not_found' };
const unknownMessage = { fails: { message_id: NOWHERE }, code: 'not_found' };

const ROWS: Readonly<Record<string, Row>> = {
  get_service_info: { works: {}, gives: { name: 'Postern' }, fails: { more: 1 }, code: 'invalid_request' },
  get_account: {
    works: {},
    gives: { kind: 'agent', can_send: true, can_delete: true, inbox_limit: 5 },
    fails: { id: 'x' },
    code: 'invalid_request',
  },
  list_inboxes: {
    works: {},
    gives: { inboxes: [{ address: agent.address }], kind: 'agent', can_send: true, inbox_limit: 5 },
    fails: { limit: 5 },
    code: 'invalid_request',
  },
  create_inbox: {
    works: { local_part: 'second', name: 'Second', idempotency_key: 'second-1' },
    gives: { local_part: 'second', replayed: false },
    fails: { local_part: 'agent' },
    code: 'address_unavailable',
  },
  get_inbox: { works: { inbox_id }, gives: { address: agent.address }, ...unknownInbox },
  update_inbox: {
    works: { inbox_id, sender_name: 'The Agent' },
    gives: { sender_name: 'The Agent' },
    fails: { inbox_id },
    code: 'invalid_inbox',
  },
  delete_inbox: {
    works: async () => ({
      inbox_id: (await client.call<{ id: string }>('create_inbox', { local_part: 'third' })).id,
    }),
    gives: { status: 'deletion_pending' },
    ...unknownInbox,
  },
  get_sending_policy: { works: { inbox_id }, gives: { enabled: false }, ...unknownInbox },
  get_receiving_policy: { works: { inbox_id }, gives: { enabled: false }, ...unknownInbox },
  submit_feedback: {
    works: { body: 'More, please.', title: 'Allowance' },
    gives: { status: 'received' },
    fails: { body: ' ' },
    code: 'invalid_request',
  },
  list_messages: {
    works: { inbox_id, query: 'hello', limit: 5, labels_none: [], order: 'relevance', include_content: true },
    gives: { messages: [{ id: received, body_source: 'text', body_truncated: false }] },
    fails: { inbox_id, limit: 101 },
    code: 'invalid_limit',
  },
  count_messages: {
    works: { inbox_id, query: '"hello"', from: 'sender@client.example', labels_none: ['x', 'y'] },
    gives: {},
    fails: { inbox_id, from: 'nobody' },
    code: 'invalid_search',
  },
  get_message: {
    works: { message_id: received, format: 'full' },
    gives: { id: received, content: { html: null }, authentication: {} },
    ...unknownMessage,
  },
  delete_message: {
    works: async () => ({ message_id: await receive() }),
    gives: { status: 'trashed' },
    ...unknownMessage,
  },
  restore_message: { works: { message_id: received }, gives: { status: 'already_live' }, ...unknownMessage },
  erase_message: {
    works: async () => ({ message_id: await receive() }),
    gives: { status: 'deletion_pending' },
    ...unknownMessage,
  },
  read_attachment: {
    works: async () => ({
      message_id: received,
      attachment_id: (await agent.api.content(received)).attachments[0]!.id,
      offset: 2,
      max_bytes: 4,
    }),
    gives: { content: Buffer.from('elve').toString('base64'), next_offset: 6, total_bytes: 12 },
    fails: { message_id: received, attachment_id: '99' },
    code: 'not_found',
  },
  read_raw_message: {
    works: { message_id: received },
    gives: { offset: 0, content: letter.toString('base64'), next_offset: null, total_bytes: letter.length },
    fails: { message_id: received, offset: -1 },
    code: 'invalid_request',
  },
  list_trash: { works: { inbox_id }, gives: { messages: [{ kind: 'received' }] }, ...unknownInbox },
  update_message_labels: {
    works: { message_id: received, add_labels: ['a'], remove_labels: ['b'] },
    gives: { labels: ['a'] },
    fails: { message_id: received },
    code: 'invalid_labels',
  },
  bulk_update_message_labels: {
    works: { message_ids: [received], add_labels: ['c'] },
    gives: { messages: [{ id: received }] },
    fails: { message_ids: [], add_labels: ['c'] },
    code: 'invalid_message_ids',
  },
  update_sent_message_labels: {
    works: { message_id: sent, add_labels: ['a'] },
    gives: { labels: ['a'] },
    fails: { message_id: received, add_labels: ['a'] },
    code: 'not_found',
  },
  bulk_update_sent_message_labels: {
    works: { message_ids: [sent], remove_labels: ['a'] },
    gives: { messages: [{ id: sent, labels: [] }] },
    fails: { message_ids: [NOWHERE], add_labels: ['c'] },
    code: 'not_found',
  },
  list_labels: {
    works: { inbox_id, prefix: 'a' },
    gives: { labels: [{ name: 'a', received_count: 1 }] },
    fails: { inbox_id, cursor: 'x' },
    code: 'invalid_cursor',
  },
  send_message: {
    works: { ...notes, idempotency_key: 'notes-1' },
    gives: { message: { status: 'accepted' }, replayed: false },
    fails: { inbox_id, to, subject: 'Notes' },
    code: 'invalid_message',
  },
  reply_message: {
    works: { inbox_id, message_id: sent, text: 'And more.' },
    gives: { message: { in_reply_to: sent } },
    fails: { inbox_id, message_id: NOWHERE, text: 'And more.' },
    code: 'not_found',
  },
  reply_all_message: {
    works: { inbox_id, message_id: sent, text: 'And more.' },
    gives: { message: { in_reply_to: sent } },
    fails: { inbox_id, message_id: sent, text: ' ' },
    code: 'invalid_message',
  },
  forward_message: {
    works: { inbox_id, message_id: received, to, note: 'See this.', include_attachments: false },
    gives: { message: { status: 'accepted' } },
    fails: { inbox_id, message_id: received },
    code: 'invalid_message',
  },
  get_outbound_quota: { works: {}, gives: { window_hours: 24 }, fails: { x: 1 }, code: 'invalid_request' },
  list_sent: {
    works: { inbox_id, query: 'here are', subject: 'notes', include_preview: true, limit: 1 },
    gives: { messages: [{ preview: { truncated: false } }] },
    fails: { inbox_id, after: 'today' },
    code: 'invalid_search',
  },
  get_sent_message: {
    works: { message_id: sent, format: 'full' },
    gives: { submission: { attachments: [{ id: '1', content: 'YWJj' }] }, body_truncated: false },
    fails: { message_id: sent, format: 'long' },
    code: 'invalid_request',
  },
  list_deliveries: { works: { message_id: sent }, gives: { message_id: sent }, ...unknownMessage },
  delete_sent_message: {
    works: async () => ({ message_id: await send() }),
    gives: { status: 'trashed' },
    ...unknownMessage,
  },
  restore_sent_message: { works: { message_id: sent }, gives: { status: 'already_live' }, ...unknownMessage },
  erase_sent_message: {
    works: async () => ({ message_id: await send() }),
    gives: { status: 'deletion_pending' },
    ...unknownMessage,
  },
  create_upload: {
    works: { content: file.content },
    gives: { size: 3 },
    fails: { content: 'a' },
    code: 'invalid_request',
  },
  delete_upload: {
    works: async () => ({ upload_id: await upload() }),
    gives: { status: 'deletion_pending' },
    fails: { upload_id: NOWHERE },
    code: 'not_found',
  },
  create_draft: {
    works: { inbox_id, source: { action: 'forward', message_id: received }, idempotency_key: 'draft-1' },
    gives: { state: 'draft', replayed: false },
    fails: { inbox_id, texts: 'x' },
    code: 'invalid_draft',
  },
  list_drafts: {
    works: { inbox_id, state: 'all' },
    gives: { next_cursor: null },
    fails: { inbox_id, state: 'lost' },
    code: 'invalid_draft',
  },
  get_draft: {
    works: async () => ({ draft_id: await draft({ to, attachments: [file] }) }),
    gives: { content: { attachments: [{ id: '1', content: 'YWJj' }] } },
    fails: { draft_id: NOWHERE },
    code: 'not_found',
  },
  update_draft: {
    works: async () => ({ draft_id: await draft({ text: 'x', html: '<p>x' }), text: 'y' }),
    gives: { state: 'draft' },
    fails: { draft_id: NOWHERE, text: 'y' },
    code: 'not_found',
  },
  delete_draft: {
    works: async () => ({ draft_id: await draft() }),
    gives: { status: 'deletion_pending' },
    fails: { draft_id: NOWHERE },
    code: 'not_found',
  },
  send_draft: {
    works: async () => ({ draft_id: await draft({ to, subject: 'S', text: 'T' }) }),
    gives: { message: { status: 'accepted' } },
    fails: { draft_id: NOWHERE },
    code: 'not_found',
  },
  list_threads: {
    works: { inbox_id, query: 'hello', include_preview: true },
    gives: { threads: [{ latest_message: { preview: { truncated: false } } }], next_cursor: null },
    fails: { inbox_id, order: 'relevance' },
    code: 'invalid_search',
  },
  get_thread: {
    works: { thread_id, format: 'full' },
    gives: { messages: [{ direction: 'received', content: { bcc: [] } }], received_count: 1 },
    fails: { thread_id: NOWHERE },
    code: 'not_found',
  },
  update_thread_labels: {
    works: { thread_id, add_labels: ['t'] },
    gives: { received_count: 1, add_labels: ['t'] },
    fails: { thread_id },
    code: 'invalid_labels',
  },
  wait_for_message: {
    works: async () => ({ inbox_id, after: await letterPlace(), query: 'hello', include_preview: true }),
    gives: { message: { preview: { truncated: false } } },
    fails: { inbox_id, after: 'yesterday' },
    code: 'invalid_cursor',
  },
  list_events: {
    works: { inbox_id, types: ['message.received', 'send.outcome'], limit: 3 },
    gives: { events: [{ type: 'message.received', message_id: received, summary: { id: received } }] },
    fails: { types: ['mail'] },
    code: 'invalid_search',
  },
  delete_thread: {
    works: { thread_id: sentThread },
    gives: { status: 'deletion_pending' },
    fails: { thread_id: NOWHERE },
    code: 'not_found',
  },
};

t.test('there is a row for each tool', async t => {
  const names = (await client.tools()).map(({ name }: Tool) => name);
  t.strictSame([...names].sort(), Object.keys(ROWS).sort());
});

for (const [name, { works, gives, fails, code }] of Object.entries(ROWS)) {
  t.test(name, async t => {
    const args = typeof works === 'function' ? await works() : works;
    t.match(await client.call(name, args), gives);
    t.match(await client.failure(name, fails), { code, retryable: false });
  });
}
