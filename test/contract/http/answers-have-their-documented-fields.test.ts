import t from 'tap';
import { must, setPolicy } from '../../support/use-cases.js';
import { withServer } from '../../unit/http/with-server.js';
import { letter } from '../../unit/usecases/threads/with-threads.js';
import { gaveUp, index, parsed, parseForReal } from '../../unit/usecases/with-parser.js';
import { putSent } from '../../unit/usecases/with-sent.js';

const keys = (value: object) => Object.keys(value).sort().join(' ');
const INBOX = 'address created_at id local_part name sender_name';
const BASE = 'envelope_from envelope_to id inbox_id labels processing_status received_at subject thread_id';
const DETAIL = `${BASE} message_id processed_at raw_size`.split(' ').sort().join(' ');

t.test('inboxes and policies', async t => {
  const { call, house } = await withServer(t);
  const body = { local_part: 'agent', idempotency_key: 'key' };
  const created = await call('/v1/inboxes', { body });
  t.equal(created.status, 201);
  t.equal(keys(created.json), `${INBOX} idempotency_expires_at replayed`.split(' ').sort().join(' '));
  const { id } = created.json;
  t.equal(created.headers.location, `/v1/inboxes/${id}`);
  const replayed = await call('/v1/inboxes', { body });
  t.strictSame([replayed.status, replayed.json.replayed, replayed.json.id], [200, true, id]);
  t.equal(replayed.headers.location, `/v1/inboxes/${id}`);
  const list = (await call('/v1/inboxes')).json;
  t.equal(keys(list), 'inbox_allowance inbox_limit inboxes');
  t.strictSame(list.inbox_allowance, { allowance: 5, used: 1, remaining: 4, unit: 'inbox_slots' });
  t.equal(list.inbox_limit, 5);
  t.equal(keys(list.inboxes[0]), INBOX);
  t.equal(keys((await call(`/v1/inboxes/${id}`)).json), INBOX);
  for (const kind of ['sending', 'receiving']) {
    t.strictSame((await call(`/v1/inboxes/${id}/${kind}-policy`)).json, {
      inbox_id: id,
      enabled: false,
      addresses: [],
      domains: [],
      revision: 0,
    });
  }
  const change = { enabled: true, addresses: ['Ann@Example.com'], domains: ['Example.NET'] };
  must(await setPolicy(house, { inbox: id, kind: 'sending', change }));
  t.strictSame((await call(`/v1/inboxes/${id}/sending-policy`)).json, {
    inbox_id: id,
    enabled: true,
    addresses: ['Ann@example.com'],
    domains: ['example.net'],
    revision: 1,
  });
  t.match((await call(`/v1/inboxes/${id}/receiving-policy`)).json, { revision: 0 });
  for (const method of ['PUT', 'PATCH', 'POST', 'DELETE']) {
    t.equal((await call(`/v1/inboxes/${id}/sending-policy`, { method })).status, 405, 'read-only');
  }
  const deleted = await call(`/v1/inboxes/${id}`, { method: 'DELETE' });
  t.equal(deleted.status, 202);
  t.equal(keys(deleted.json), 'id message status');
});

t.test('the refusal at the cap carries its details', async t => {
  const { call } = await withServer(t);
  for (let n = 0; n < 5; n++) await call('/v1/inboxes', { body: { local_part: `a${n}` } });
  const refused = await call('/v1/inboxes', { body: { local_part: 'more' } });
  t.equal(refused.status, 409);
  t.match(refused.json, {
    error: {
      code: 'inbox_limit_reached',
      details: {
        allowance: { remaining: 0, unit: 'inbox_slots' },
        increase_request: String,
        policy_url: String,
      },
    },
  });
});

t.test('a message in each of its states', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const [pending, ready, failed] = [
    await house.receive('raw', inbox),
    await house.receive('raw', inbox),
    await house.receive('raw', inbox),
  ];
  await index(house, ready, parsed());
  await index(house, failed, gaveUp('timeout'));
  const list = (await call(`/v1/inboxes/${inbox}/messages`)).json;
  t.equal(keys(list), 'messages next_cursor');
  t.equal(list.next_cursor, null);
  t.strictSame(
    list.messages.map((message: { id: string; processing_status: string }) => [
      message.id,
      message.processing_status,
    ]),
    [
      [failed, 'failed'],
      [ready, 'ready'],
      [pending, 'pending'],
    ],
  );
  const withFrom = `${BASE} from`.split(' ').sort().join(' ');
  t.strictSame(list.messages.map(keys), [BASE, withFrom, BASE]);
  for (const id of [pending, failed]) t.equal(keys((await call(`/v1/messages/${id}`)).json), DETAIL);
  const detail = (await call(`/v1/messages/${ready}`)).json;
  t.equal(keys(detail), `${DETAIL} content`.split(' ').sort().join(' '));
  t.match(detail, {
    message_id: '<1@elsewhere.example>',
    raw_size: 3,
    subject: 'Hello',
    labels: [],
    thread_id: String,
  });
  t.strictSame(detail.content.reply_text, null, 'nobody has told its new words');
  const previewed = (await call(`/v1/inboxes/${inbox}/messages?include=preview`)).json;
  t.strictSame(
    previewed.messages,
    list.messages.map((message: object) => ({ ...message, preview: null })),
  );
  const mail = 'From: a@a.example\r\nSubject: Hi\r\n\r\nYes.\r\n\r\n> Do you come?\r\n';
  const answered = await house.receive(mail, inbox);
  await index(house, answered, parseForReal);
  const preview = { text: 'Yes.', truncated: false, source: 'reply_text' };
  t.equal((await call(`/v1/messages/${answered}`)).json.content.reply_text, 'Yes.');
  t.strictSame(
    (await call(`/v1/inboxes/${inbox}/messages?include=preview`)).json.messages[0].preview,
    preview,
  );
  const threads = (await call(`/v1/inboxes/${inbox}/threads?include=preview`)).json.threads;
  t.strictSame(
    threads.map((thread: { latest_message: { preview: object } }) => thread.latest_message.preview),
    [preview, null],
  );
  t.equal((await call(`/v1/messages/${answered}`, { method: 'DELETE' })).status, 202);
  t.match(detail.received_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  t.strictSame((await call(`/v1/inboxes/${inbox}/messages/count`)).json, { count: 3 });
  for (const [status, method] of [
    [202, 'DELETE'],
    [404, 'DELETE'],
    [404, 'GET'],
  ] as const) {
    t.equal((await call(`/v1/messages/${pending}`, { method })).status, status);
  }
  t.strictSame((await call(`/v1/inboxes/${inbox}/messages/count`)).json, { count: 2 });
});

const THREAD =
  'accepted_count id inbox_id last_activity_at message_count received_count rejected_count subject unknown_count';
const SENT_METADATA =
  'created_at error_code id in_reply_to inbox_id labels provider_message_id recipient_count status thread_id';

const sorted = (names: string) => names.split(' ').sort().join(' ');

t.test('conversations', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const received = await letter(house, inbox, 'a@x');
  const to = [{ address: 'Bob@X.example', name: 'Bob' }, { address: 'c@x.example' }];
  const sent = await putSent(house.store, inbox, house.now.ms + 5, {
    references: ['a@x'],
    status: 'rejected',
    to,
  });
  const list = (await call(`/v1/inboxes/${inbox}/threads`)).json;
  t.equal(keys(list), 'next_cursor threads');
  t.equal(list.next_cursor, null);
  t.equal(keys(list.threads[0]), sorted(`${THREAD} latest_message`));
  const counts = {
    message_count: 2,
    received_count: 1,
    accepted_count: 0,
    rejected_count: 1,
    unknown_count: 0,
  };
  const lastActivity = new Date(house.now.ms + 5).toISOString();
  t.match(list.threads[0], { inbox_id: inbox, subject: 'Hello', last_activity_at: lastActivity, ...counts });
  t.strictSame(list.threads[0].latest_message, {
    id: sent.id,
    direction: 'sent',
    counterpart: { address: 'bob@x.example' },
  });
  const [filtered] = (await call(`/v1/inboxes/${inbox}/threads?from=sender@elsewhere.example`)).json.threads;
  t.equal(keys(filtered), sorted(`${THREAD} latest_message matching_message_count matching_message_ids`));
  t.match(filtered, { matching_message_ids: [received], matching_message_count: 1 });

  const { id } = list.threads[0];
  const detail = (await call(`/v1/threads/${id}`)).json;
  t.equal(keys(detail), sorted(`${THREAD} messages next_cursor`));
  t.strictSame(detail.messages.map(keys), [
    sorted(`${DETAIL} content direction timestamp`),
    sorted(`${SENT_METADATA} direction reply_text submission timestamp`),
  ]);
  const submission = 'attachments bcc cc from headers subject text to';
  t.equal(keys(detail.messages[1].submission), submission);
  t.match(detail.messages[1], { recipient_count: 2, submission: { to, text: 'Sent' } });

  const body = { add_labels: ['b', ' a ', 'b'], remove_labels: ['c'] };
  const labelled = await call(`/v1/threads/${id}`, { method: 'PATCH', body });
  const affected = { id, inbox_id: inbox, message_count: 2, received_count: 1, sent_count: 1 };
  const change = { add_labels: ['a', 'b'], remove_labels: ['c'] };
  t.strictSame([labelled.status, labelled.json], [200, { ...affected, ...change }]);
  const deleted = await call(`/v1/threads/${id}`, { method: 'DELETE' });
  t.equal(deleted.status, 202);
  const { message, ...rest } = deleted.json;
  t.type(message, 'string');
  t.strictSame(rest, { ...affected, status: 'deletion_pending' });
  for (const method of ['DELETE', 'GET']) t.equal((await call(`/v1/threads/${id}`, { method })).status, 404);
});

t.test('pages follow their cursor and end with null', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  for (let n = 0; n < 25; n++) await house.receive(`m${n}`, inbox);
  const first = (await call(`/v1/inboxes/${inbox}/messages`)).json;
  t.equal(first.messages.length, 20, 'the default limit');
  const rest = (
    await call(`/v1/inboxes/${inbox}/messages?limit=100&cursor=${encodeURIComponent(first.next_cursor)}`)
  ).json;
  t.strictSame([rest.messages.length, rest.next_cursor], [5, null]);
  const exact = (await call(`/v1/inboxes/${inbox}/messages?limit=25`)).json;
  t.strictSame([exact.messages.length, exact.next_cursor], [25, null]);
});

t.test('events of every type, and the end of a wait', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  await index(house, await house.receive('Subject: one\r\n\r\nx', inbox), parsed());
  await index(house, await house.receive('Subject: two\r\n\r\nx', inbox), gaveUp('timeout'));
  const body = { to: [{ address: 'a@elsewhere.example' }], subject: 'Hi', text: 'Hi' };
  const sent = await call(`/v1/inboxes/${inbox}/sent`, { body });
  const page = await call('/v1/events?limit=2');
  t.equal(keys(page.json), 'events next_cursor');
  t.equal(page.json.events.length, 2);
  const rest = await call(`/v1/events?after=${page.json.next_cursor}`);
  const all = [...page.json.events, ...rest.json.events];
  const EVENT = 'created_at id inbox_id sequence summary type';
  const ids: Record<string, string> = {
    'message.received': 'message_id thread_id',
    'message.failed': 'message_id',
    'send.outcome': 'message_id thread_id',
    'inbox.created': '',
  };
  for (const event of all) {
    const expected = `${EVENT} ${ids[event.type]}`.trim().split(' ').sort().join(' ');
    t.equal(keys(event), expected, event.type);
  }
  t.match(
    all.map(({ type }) => type),
    ['inbox.created', 'message.received', 'message.failed', 'send.outcome'],
  );
  t.equal(all[3].summary.id, sent.json.message.id);
  t.strictSame((await call(`/v1/events?after=${rest.json.next_cursor}`)).json.events, []);
  const waited = (await call(`/v1/inboxes/${inbox}/messages?since=${page.json.next_cursor}`)).json;
  t.equal(keys(waited), 'messages next_cursor next_since');
});
