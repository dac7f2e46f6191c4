import t from 'tap';
import { createKey } from '../../../../src/usecases/accounts/api-keys.js';
import { letter } from '../../usecases/threads/with-threads.js';
import { type Call, withServer } from '../with-server.js';

const MISSING = '01890000-0000-7000-8000-000000000000';

t.test('what is malformed, missing or not theirs is refused', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  await letter(house, inbox, 'a@x');
  const list = `/v1/inboxes/${inbox}/threads`;
  const thread = `/v1/threads/${(await call(list)).json.threads[0].id}`;
  const stranger = await house.addAccount('stranger@elsewhere.example');
  const { credential } = await createKey(house, { account: stranger });
  const asStranger = { headers: { authorization: `Bearer ${credential}` } };
  const patch = (body: object): Call => ({ method: 'PATCH', body });
  const refusals: [path: string, asked: Call, status: number, code: string][] = [
    [`${list}?limit=0`, {}, 400, 'invalid_limit'],
    [`${list}?cursor=nonsense`, {}, 400, 'invalid_cursor'],
    [`${list}?state=all`, {}, 400, 'invalid_search'],
    [`${list}?order=relevance`, {}, 400, 'invalid_search'],
    [`${list}?query=%22words`, {}, 400, 'invalid_search'],
    [`${list}?after=2026-01-02T00:00:00Z&before=2026-01-01T00:00:00Z`, {}, 400, 'invalid_search'],
    [`${list}?labels_all=`, {}, 400, 'invalid_labels'],
    [`/v1/inboxes/${MISSING}/threads`, {}, 404, 'not_found'],
    [list, asStranger, 404, 'not_found'],
    [`${thread}?limit=101`, {}, 400, 'invalid_limit'],
    [`${thread}?cursor=nonsense`, {}, 400, 'invalid_cursor'],
    [`${thread}?order=oldest`, {}, 400, 'invalid_search'],
    [`/v1/threads/${MISSING}`, {}, 404, 'not_found'],
    ['/v1/threads/nonsense', {}, 404, 'not_found'],
    [thread, asStranger, 404, 'not_found'],
    [thread, { ...patch({ add_labels: ['a'] }), ...asStranger }, 404, 'not_found'],
    [thread, { method: 'DELETE', ...asStranger }, 404, 'not_found'],
    [thread, patch({}), 400, 'invalid_labels'],
    [thread, patch({ add_labels: ['a'], remove_labels: [' a'] }), 400, 'invalid_labels'],
    [thread, patch({ labels: ['a'] }), 400, 'invalid_labels'],
    [thread, patch({ add_labels: ['x'.repeat(20_480)] }), 413, 'body_too_large'],
    [`/v1/threads/${MISSING}`, patch({}), 400, 'invalid_labels'],
    [`/v1/threads/${MISSING}`, patch({ add_labels: ['a'] }), 404, 'not_found'],
  ];
  for (const [path, asked, status, code] of refusals) {
    const answer = await call(path, asked);
    t.strictSame(
      [answer.status, answer.json.error?.code],
      [status, code],
      `${asked.method ?? 'GET'} ${path}`,
    );
  }
  t.strictSame((await call(thread)).json.messages[0].labels, []);
});

t.test('a cursor goes on only with the list, filter and order, or the thread, it came from', async t => {
  const { call, house } = await withServer(t);
  const [inbox, other] = [await house.addInbox('agent'), await house.addInbox('other')];
  for (let n = 0; n < 4; n++) {
    await letter(house, inbox, `${n}@x`);
    await letter(house, inbox, `r${n}@x`, ['root@x']);
    await letter(house, inbox, `s${n}@x`, ['stem@x']);
  }
  const list = `/v1/inboxes/${inbox}/threads`;
  const filter = 'labels_none=a&labels_none=b';
  const cursorOf = async (path: string): Promise<string> => (await call(path)).json.next_cursor;
  const plain = await cursorOf(`${list}?limit=2`);
  const filtered = await cursorOf(`${list}?limit=2&${filter}`);
  const [one, two] = (await call(list)).json.threads
    .filter(({ message_count }: { message_count: number }) => message_count === 4)
    .map(({ id }: { id: string }) => `/v1/threads/${id}`);
  const within = await cursorOf(`${one}?limit=2`);
  for (const path of [
    `${list}?cursor=${plain}`,
    `${list}?cursor=${filtered}&labels_none=b&labels_none=+a&limit=9`,
    `${one}?cursor=${within}`,
  ]) {
    t.equal((await call(path)).status, 200, path);
  }
  for (const path of [
    `/v1/inboxes/${other}/threads?cursor=${plain}`,
    `${list}?cursor=${plain}&order=oldest`,
    `${list}?cursor=${plain}&${filter}`,
    `${list}?cursor=${filtered}`,
    `${list}?cursor=${within}`,
    `/v1/inboxes/${inbox}/messages?cursor=${plain}`,
    `${two}?cursor=${within}`,
    `${one}?cursor=${plain}`,
  ]) {
    const answer = await call(path);
    t.strictSame([answer.status, answer.json.error?.code], [400, 'invalid_cursor'], path);
  }
});

t.test('a page that was kept shows every change since', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const look = async () => {
    const path = `/v1/inboxes/${inbox}/threads`;
    await call(path);
    const { threads } = (await call(path)).json;
    return threads.map(({ message_count }: { message_count: number }) => message_count);
  };
  t.strictSame(await look(), []);
  const first = await letter(house, inbox, 'a@x');
  t.strictSame(await look(), [1]);
  await letter(house, inbox, 'b@x');
  t.strictSame(await look(), [1, 1]);
  await letter(house, inbox, 'c@x', ['a@x', 'b@x']);
  t.strictSame(await look(), [3]);
  await call(`/v1/messages/${first}`, { method: 'DELETE' });
  t.strictSame(await look(), [2]);
});
