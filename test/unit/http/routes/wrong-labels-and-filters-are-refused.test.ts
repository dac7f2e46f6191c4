import t from 'tap';
import { type Call, withServer } from '../with-server.js';

const MISSING = '01890000-0000-7000-8000-000000000000';

type Refusal = readonly [what: string, path: string, call: Call, status: number, code: string];

t.test('label updates', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const id = await house.receive('raw', inbox);
  const one = `/v1/messages/${id}`;
  const many = '/v1/messages/labels';
  const patch = (body: Call['body'], headers: Record<string, string> = {}): Call => ({
    method: 'PATCH',
    ...(body === undefined ? {} : { body }),
    headers,
  });
  const json = { 'content-type': 'application/json' };
  const over = (limit: number) => `{"add_labels":["${'x'.repeat(limit)}"]}`;
  const changes: [string, object][] = [
    ['nothing', {}],
    ['empty arrays', { add_labels: [], remove_labels: [] }],
    ['an unknown field', { add_labels: ['a'], labels: ['b'] }],
    ['null', { add_labels: null, remove_labels: ['a'] }],
    ['a text for an array', { add_labels: 'a' }],
    ['a number among labels', { add_labels: ['a', 1] }],
    ['33 labels', { add_labels: Array(33).fill('a') }],
    ['33 labels to remove', { remove_labels: Array(33).fill('a') }],
    ['a blank label', { add_labels: [' '] }],
    ['129 bytes', { add_labels: ['x'.repeat(129)] }],
    ['a control character', { remove_labels: ['a\u0000'] }],
    ['a lone surrogate', { add_labels: ['\ud800'] }],
    ['one label on both sides', { add_labels: ['a'], remove_labels: ['b', ' a '] }],
  ];
  const refusals: Refusal[] = [
    ...changes.flatMap(([what, body]): Refusal[] => [
      [what, one, patch(body), 400, 'invalid_labels'],
      [`${what}, in a batch`, many, patch({ message_ids: [id], ...body }), 400, 'invalid_labels'],
    ]),
    ...[undefined, null, id, [], ['x'], [id, 7], [id.toUpperCase()], Array(101).fill(id)].map(
      (ids): Refusal => {
        const body = { message_ids: ids, add_labels: ['a'] };
        return [`ids ${JSON.stringify(ids)?.slice(0, 60)}`, many, patch(body), 400, 'invalid_message_ids'];
      },
    ),
    ['an array', one, patch('[]', json), 400, 'invalid_json'],
    ['no JSON', one, patch('{"add_labels":', json), 400, 'invalid_json'],
    ['an empty body', many, patch('', json), 400, 'invalid_json'],
    ['another type', one, patch('{}', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type'],
    ['20 KiB', one, patch(over(20_480), json), 413, 'body_too_large'],
    ['32 KiB', many, patch(over(32_768), json), 413, 'body_too_large'],
    ['no message', `/v1/messages/${MISSING}`, patch({ add_labels: ['a'] }), 404, 'not_found'],
    ['nonsense for an id', '/v1/messages/x', patch({ add_labels: ['a'] }), 404, 'not_found'],
    [
      'no message among them',
      many,
      patch({ message_ids: [id, MISSING], add_labels: ['a'] }),
      404,
      'not_found',
    ],
    ['fields before ownership', `/v1/messages/${MISSING}`, patch({}), 400, 'invalid_labels'],
  ];
  for (const [what, path, asked, status, code] of refusals) {
    const answer = await call(path, asked);
    t.strictSame([answer.status, answer.json.error.code], [status, code], what);
  }
  t.strictSame(house.message(id)?.labels, [], 'nothing has changed');

  const full = Array.from({ length: 32 }, (_, n) => `${'é'.repeat(63)}${String(n).padStart(2, '0')}`);
  const filled = await call(one, patch({ add_labels: full }));
  t.strictSame([filled.status, filled.json], [200, { id, labels: full }], '32 labels of 128 bytes');
  const changed = await call(
    many,
    patch({ message_ids: [id, id], add_labels: [' a,b '], remove_labels: full }),
  );
  t.strictSame([changed.status, changed.json], [200, { messages: [{ id, labels: ['a,b'] }] }]);
});

t.test('the literal path of a batch wins over a message of that name', async t => {
  const { call } = await withServer(t);
  const patch = { method: 'PATCH', body: { add_labels: ['a'] } };
  t.match((await call('/v1/messages/labels', patch)).json, { error: { code: 'invalid_message_ids' } });
  t.match((await call('/v1/messages/label', patch)).json, { error: { code: 'not_found' } });
});

t.test('lists, counts, labels in use and Trash', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  await house.receive('raw', inbox);
  const many = Array(33).fill('labels_any=a').join('&');
  const both = [
    ['labels_all=', 'invalid_labels'],
    ['labels_any=%20', 'invalid_labels'],
    ['labels_none=a%00', 'invalid_labels'],
    [`labels_all=${'x'.repeat(129)}`, 'invalid_labels'],
    [many, 'invalid_labels'],
    ['from=ann', 'invalid_search'],
    ['from=Ann%20%3Cann%40x.example%3E', 'invalid_search'],
    ['recipient=', 'invalid_search'],
    ['subject=%20', 'invalid_search'],
    [`subject=${'x'.repeat(999)}`, 'invalid_search'],
    ['after=2026-02-30T00:00:00Z', 'invalid_search'],
    ['before=2026-01-01', 'invalid_search'],
    ['after=2026-01-01T00:00:00+01:00', 'invalid_search'],
    ['after=2026-01-02T00:00:00Z&before=2026-01-02T00:00:00Z', 'invalid_search'],
    ['from=a@x.example&from=a@x.example', 'invalid_search'],
    ['labels=a', 'invalid_search'],
    ['label_all=a', 'invalid_search'],
    ['labels_all[]=a', 'invalid_search'],
    ['query=', 'invalid_search'],
    ['query=%20', 'invalid_search'],
    ['query=%26%20%2B', 'invalid_search'],
    ['query=an%20%22open%20quote', 'invalid_search'],
    [`query=${Array.from({ length: 17 }, (_, n) => `w${n}`).join('+')}`, 'invalid_search'],
    [`query=${'x'.repeat(513)}`, 'invalid_search'],
    ['query=a&query=b', 'invalid_search'],
  ] as const;
  const lists = [
    ...both,
    ['limit=0', 'invalid_limit'],
    ['cursor=x', 'invalid_cursor'],
    ['order=random', 'invalid_search'],
    ['order=', 'invalid_search'],
    ['order=relevance', 'invalid_search'],
    ['include=', 'invalid_search'],
    ['include=text', 'invalid_search'],
    ['include=preview&include=preview', 'invalid_search'],
    ['order=newest&order=newest', 'invalid_search'],
  ] as const;
  const labels = [
    ['prefix=a&prefix=a', 'invalid_labels'],
    [`prefix=${'x'.repeat(129)}`, 'invalid_labels'],
    ['prefix=a%00', 'invalid_labels'],
    ['limit=101', 'invalid_limit'],
    ['cursor=x', 'invalid_cursor'],
    ['prefx=a', 'invalid_search'],
    ['limit=1&limit=1', 'invalid_search'],
    ['labels_all=a', 'invalid_search'],
  ] as const;
  const trash = [
    ['limit=1.5', 'invalid_limit'],
    ['cursor=', 'invalid_cursor'],
    ['prefix=a', 'invalid_search'],
    ['limit=1&limit=2', 'invalid_search'],
  ] as const;
  for (const [path, refusals] of [
    ['messages', lists],
    ['messages/count', [...both, ['limit=1', 'invalid_search'], ['order=newest', 'invalid_search']]],
    ['labels', labels],
    ['trash', trash],
  ] as const) {
    for (const [query, code] of refusals) {
      const answer = await call(`/v1/inboxes/${inbox}/${path}?${query}`);
      t.strictSame([answer.status, answer.json.error.code], [400, code], `${path}?${query.slice(0, 60)}`);
    }
    const missing = await call(`/v1/inboxes/${MISSING}/${path}`);
    t.strictSame([missing.status, missing.json.error.code], [404, 'not_found'], path);
  }
  const { message } = (await call(`/v1/inboxes/${inbox}/messages?quer=hello`)).json.error;
  t.match(message, /Unknown query parameter "quer"; known: .*query/);
});

t.test('a detail takes no parameters', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const message = await house.receive('raw', inbox);
  for (const [path, code] of [
    [`messages/${message}`, 'invalid_search'],
    [`sent/${message}`, 'invalid_search'],
    [`threads/${message}`, 'invalid_search'],
    [`drafts/${message}`, 'invalid_draft'],
  ] as const) {
    for (const query of ['x=1', 'include=preview', 'include=previews']) {
      const answer = await call(`/v1/${path}?${query}`);
      t.strictSame([answer.status, answer.json.error.code], [400, code], `${path}?${query}`);
    }
  }
});

t.test('a repeated group is its values together; a comma is part of one', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const ids = [
    await house.receive('a', inbox),
    await house.receive('b', inbox),
    await house.receive('c', inbox),
  ];
  const [a, b, c] = ids;
  const label = (id: string | undefined, ...add_labels: string[]) =>
    call(`/v1/messages/${id}`, { method: 'PATCH', body: { add_labels } });
  await label(a, 'x', 'y');
  await label(b, 'x,y');
  await label(c, 'x', 'X');
  const find = async (query: string) => {
    const list = (await call(`/v1/inboxes/${inbox}/messages?${query}`)).json;
    const count = (await call(`/v1/inboxes/${inbox}/messages/count?${query}`)).json;
    t.strictSame(count, { count: list.messages.length }, query);
    return list.messages.map(({ id }: { id: string }) => id);
  };
  t.strictSame(await find('labels_all=x&labels_all=y'), [a]);
  t.strictSame(await find('labels_all=x,y'), [b]);
  t.strictSame(await find('labels_any=y&labels_any=x%2Cy'), [b, a]);
  t.strictSame(await find('labels_none=X&labels_none=x,y'), [a]);
  t.strictSame(await find('labels_any=x&labels_none=y'), [c]);
  t.strictSame(await find('labels_all=+x+'), [c, a], 'trimmed');
  t.strictSame(await find('labels_all=x&labels_none=x'), [], 'what contradicts itself matches nothing');
  t.strictSame(await find('labels_all=never-used'), []);
  t.strictSame(await find('labels_none=never-used'), [c, b, a], 'unlabelled ones qualify');
});
