import t from 'tap';
import { setPermissions } from '../../../../src/usecases/accounts/accounts.js';
import { DAY_MS } from '../../usecases/with-house.js';
import { attached, index, prepared } from '../../usecases/with-parser.js';
import { type TestServer, withServer } from '../with-server.js';

const post = { method: 'POST' } as const;
const codeOf = (answer: { status: number; json: { error?: { code: string } } }) => [
  answer.status,
  answer.json.error?.code,
];

async function ready({ house, call }: TestServer) {
  const inbox = await house.addInbox('agent');
  const id = await house.receive('raw bytes', inbox);
  await index(house, id, async () => ({
    status: 'parsed',
    prepared: prepared({}, [attached('a1', 'file.txt', Buffer.from('raw bytes'))]),
  }));
  await call(`/v1/messages/${id}`, { method: 'PATCH', body: { add_labels: ['kept', 'too'] } });
  return { inbox, id, path: `/v1/messages/${id}` };
}

t.test('in Trash it is found nowhere but there, and comes back as it was', async t => {
  const server = await withServer(t);
  const { call, house } = server;
  const { inbox, id, path } = await ready(server);
  const before = (await call(path)).json;
  const summary = (await call(`/v1/inboxes/${inbox}/messages`)).json.messages;
  house.now.ms += 1_234;
  const deletedAt = house.now.ms;
  const trashed = await call(`${path}/trash`, post);
  const place = {
    deleted_at: new Date(deletedAt).toISOString(),
    restorable_until: new Date(deletedAt + 7 * DAY_MS).toISOString(),
  };
  t.strictSame([trashed.status, trashed.json], [200, { id, inbox_id: inbox, status: 'trashed', ...place }]);
  house.now.ms += 5;
  t.strictSame(
    (await call(`${path}/trash`, post)).json,
    { id, inbox_id: inbox, status: 'already_trashed', ...place },
    'once more changes nothing',
  );

  for (const hidden of [path, `${path}/raw`, `${path}/attachments/a1`]) {
    t.strictSame(codeOf(await call(hidden)), [404, 'not_found'], hidden);
  }
  const labels = { method: 'PATCH', body: { add_labels: ['new'] } };
  t.strictSame(codeOf(await call(path, labels)), [404, 'not_found']);
  const batch = { method: 'PATCH', body: { message_ids: [id], add_labels: ['new'] } };
  t.strictSame(codeOf(await call('/v1/messages/labels', batch)), [404, 'not_found']);
  const own = `/v1/inboxes/${inbox}`;
  for (const query of [
    '',
    '?labels_all=kept',
    '?from=sender@elsewhere.example',
    '?subject=hello',
    '?labels_none=x',
  ]) {
    t.strictSame((await call(`${own}/messages${query}`)).json, { messages: [], next_cursor: null }, query);
    t.strictSame((await call(`${own}/messages/count${query}`)).json, { count: 0 }, query);
  }
  t.strictSame((await call(`${own}/labels`)).json, { labels: [], next_cursor: null });
  t.strictSame((await call(`${own}/trash`)).json, {
    messages: [
      {
        id,
        kind: 'received',
        inbox_id: inbox,
        subject: 'Hello',
        from: { name: 'Sender', address: 'sender@elsewhere.example' },
        envelope_from: 'sender@elsewhere.example',
        ...place,
      },
    ],
    next_cursor: null,
  });

  house.now.ms = deletedAt + 7 * DAY_MS - 1;
  const restored = await call(`${path}/restore`, post);
  t.match(restored.json, {
    id,
    inbox_id: inbox,
    thread_id: before.thread_id,
    status: 'restored',
    message: String,
  });
  t.equal(Object.keys(restored.json).length, 5);
  t.strictSame((await call(path)).json, before);
  t.strictSame((await call(`${own}/messages`)).json.messages, summary);
  t.equal((await call(`${path}/attachments/a1`)).bytes.toString(), 'raw bytes');
  t.strictSame((await call(`${own}/messages/count?labels_all=kept`)).json, { count: 1 });
  t.match((await call(`${own}/labels?prefix=k`)).json.labels, [
    { name: 'kept', received_count: 1, sent_count: 0 },
  ]);
  t.strictSame((await call(`${own}/trash`)).json, { messages: [], next_cursor: null });
  const again = await call(`${path}/restore`, post);
  t.strictSame([again.status, again.json.status], [200, 'already_live']);
});

t.test('from the instant restorable_until on it is gone, swept or not', async t => {
  const server = await withServer(t);
  const { call, house } = server;
  const { inbox, path } = await ready(server);
  await call(`${path}/trash`, post);
  house.now.ms += 7 * DAY_MS;
  for (const isSwept of [false, true]) {
    if (isSwept) await house.sweepAll();
    for (const operation of ['restore', 'trash']) {
      t.strictSame(codeOf(await call(`${path}/${operation}`, post)), [404, 'not_found']);
    }
    t.strictSame(codeOf(await call(path, { method: 'DELETE' })), [404, 'not_found']);
    t.strictSame((await call(`/v1/inboxes/${inbox}/trash`)).json, { messages: [], next_cursor: null });
  }
});

t.test('DELETE takes it out of Trash for good', async t => {
  const server = await withServer(t);
  const { call } = server;
  const { inbox, path } = await ready(server);
  await call(`${path}/trash`, post);
  t.match((await call(path, { method: 'DELETE' })).json, { status: 'deletion_pending' });
  t.strictSame(codeOf(await call(path, { method: 'DELETE' })), [404, 'not_found']);
  t.strictSame(codeOf(await call(`${path}/restore`, post)), [404, 'not_found']);
  t.strictSame((await call(`/v1/inboxes/${inbox}/trash`)).json, { messages: [], next_cursor: null });
});

t.test('Trash is listed last trashed first, page by page', async t => {
  const server = await withServer(t);
  const { call, house } = server;
  const inbox = await house.addInbox('agent');
  const ids: string[] = [];
  for (let n = 0; n < 7; n++) ids.push(await house.receive(`m${n}`, inbox));
  const order = [3, 0, 6, 1, 5, 2, 4].map(n => ids[n]!);
  for (const id of order) await call(`/v1/messages/${id}/trash`, post);
  const seen: string[] = [];
  let query = '?limit=3';
  for (;;) {
    const page = (await call(`/v1/inboxes/${inbox}/trash${query}`)).json;
    seen.push(...page.messages.map(({ id }: { id: string }) => id));
    if (page.next_cursor === null) break;
    query = `?limit=3&cursor=${page.next_cursor}`;
  }
  t.strictSame(seen, order.toReversed());
});

t.test('a shorter time in Trash that is configured later hides no older entry', async t => {
  const server = await withServer(t);
  const { call, house } = server;
  const inbox = await house.addInbox('agent');
  const [first, second] = [await house.receive('a', inbox), await house.receive('b', inbox)];
  await call(`/v1/messages/${first}/trash`, post);
  house.now.ms -= 8 * DAY_MS;
  await call(`/v1/messages/${second}/trash`, post);
  house.now.ms += 8 * DAY_MS;
  const page = (await call(`/v1/inboxes/${inbox}/trash?limit=1`)).json;
  t.strictSame(page.messages, [], 'the last trashed is over and not swept yet');
  const next = (await call(`/v1/inboxes/${inbox}/trash?limit=1&cursor=${page.next_cursor}`)).json;
  t.match(next.messages, [{ id: first }]);
});

t.test('the operations need no body and pay no heed to one', async t => {
  const server = await withServer(t);
  const { call } = server;
  const { path } = await ready(server);
  for (const body of [{}, { unknown: true }, 'no JSON']) {
    t.equal((await call(`${path}/trash`, { ...post, body })).status, 200);
    t.equal((await call(`${path}/restore`, { ...post, body })).status, 200);
  }
});

t.test('an account may be barred from deleting, from restoring, or from both; labels are free', async t => {
  const server = await withServer(t);
  const { call, house } = server;
  const { inbox, path } = await ready(server);
  const permit = (permissions: { delete?: boolean; restore?: boolean }) =>
    setPermissions(house, { account: house.account, permissions });
  await permit({ delete: false });
  for (const [asked, method] of [
    [`${path}/trash`, 'POST'],
    [path, 'DELETE'],
    [`/v1/inboxes/${inbox}`, 'DELETE'],
  ] as const) {
    const answer = await call(asked, { method });
    t.strictSame(codeOf(answer), [403, 'operation_not_allowed']);
    t.match(answer.json.error.message, /^Deletion is switched off/);
  }
  t.equal((await call(`${path}/restore`, post)).json.status, 'already_live', 'restoring is another switch');
  await permit({ delete: true, restore: false });
  t.equal((await call(`${path}/trash`, post)).status, 200);
  const barred = await call(`${path}/restore`, post);
  t.strictSame(codeOf(barred), [403, 'operation_not_allowed']);
  t.match(barred.json.error.message, /^Restoring is switched off/);
  const missing = await call('/v1/messages/01890000-0000-7000-8000-000000000000/restore', post);
  t.strictSame(codeOf(missing), [404, 'not_found'], 'ownership comes before permission');
  await permit({ restore: true });
  t.equal((await call(`${path}/restore`, post)).json.status, 'restored');
  await permit({ delete: false, restore: false });
  const labelled = await call(path, { method: 'PATCH', body: { add_labels: ['new'] } });
  t.strictSame([labelled.status, labelled.json.labels], [200, ['kept', 'new', 'too']]);
});

t.test('another account finds nothing to label, trash or restore', async t => {
  const server = await withServer(t);
  const { house, call } = server;
  const stranger = await house.addAccount('stranger@elsewhere.example');
  const inbox = await house.addInbox('theirs', stranger);
  const id = await house.receive('raw', inbox);
  const asked: [string, string, object?][] = [
    [`/v1/messages/${id}/trash`, 'POST'],
    [`/v1/messages/${id}/restore`, 'POST'],
    [`/v1/messages/${id}`, 'PATCH', { add_labels: ['a'] }],
    ['/v1/messages/labels', 'PATCH', { message_ids: [id], add_labels: ['a'] }],
    [`/v1/inboxes/${inbox}/labels`, 'GET'],
    [`/v1/inboxes/${inbox}/trash`, 'GET'],
    [`/v1/inboxes/${inbox}/messages?labels_all=a`, 'GET'],
    [`/v1/inboxes/${inbox}/messages/count?labels_all=a`, 'GET'],
  ];
  for (const [path, method, body] of asked) {
    t.strictSame(
      codeOf(await call(path, { method, ...(body === undefined ? {} : { body }) })),
      [404, 'not_found'],
      path,
    );
  }
  t.match(house.message(id), { labels: [], trash: null });
});
