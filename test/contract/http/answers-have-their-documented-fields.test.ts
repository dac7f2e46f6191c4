import t from 'tap';
import { withServer } from '../../unit/http/with-server.js';
import { gaveUp, index, parsed } from '../../unit/usecases/with-parser.js';

const keys = (value: object) => Object.keys(value).sort().join(' ');
const INBOX = 'address created_at id local_part name sender_name';
const BASE = 'envelope_from envelope_to id inbox_id labels processing_status received_at subject thread_id';
const DETAIL = `${BASE} message_id processed_at raw_size`.split(' ').sort().join(' ');

t.test('inboxes and policies', async t => {
  const { call } = await withServer(t);
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
    thread_id: null,
  });
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
