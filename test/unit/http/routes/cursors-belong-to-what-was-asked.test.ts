import t from 'tap';
import { withServer } from '../with-server.js';

t.test('a cursor goes on only with the inbox, list, filter and order it came from', async t => {
  const { call, house } = await withServer(t);
  const [inbox, other] = [await house.addInbox('agent'), await house.addInbox('other')];
  for (let n = 0; n < 6; n++) {
    const id = await house.receive(`m${n}`, inbox);
    await house.receive(`o${n}`, other);
    const body = { add_labels: ['x', 'y', `l${n}`] };
    await call(`/v1/messages/${id}`, { method: 'PATCH', body });
    if (n % 2 === 0) {
      const trashed = await house.receive(`t${n}`, inbox);
      await call(`/v1/messages/${trashed}/trash`, { method: 'POST' });
    }
  }
  const list = `/v1/inboxes/${inbox}/messages`;
  const cursorOf = async (path: string): Promise<string> => (await call(path)).json.next_cursor;
  const filter = 'labels_all=x&labels_all=y&labels_none=z';
  const plain = await cursorOf(`${list}?limit=2`);
  const filtered = await cursorOf(`${list}?limit=2&${filter}`);
  const oldest = await cursorOf(`${list}?limit=2&order=oldest`);
  const labels = await cursorOf(`/v1/inboxes/${inbox}/labels?limit=2&prefix=l`);
  const trash = await cursorOf(`/v1/inboxes/${inbox}/trash?limit=2`);
  for (const cursor of [plain, filtered, oldest, labels, trash]) {
    t.match(cursor, /^[A-Za-z0-9_-]+$/, 'it needs no encoding');
  }

  for (const path of [
    `${list}?cursor=${plain}`,
    `${list}?cursor=${plain}&order=newest&limit=100`,
    `${list}?cursor=${filtered}&${filter}`,
    `${list}?cursor=${filtered}&labels_none=z&labels_all=y&labels_all=+x&labels_all=y`,
    `${list}?cursor=${oldest}&order=oldest`,
    `/v1/inboxes/${inbox}/labels?prefix=l&cursor=${labels}`,
    `/v1/inboxes/${inbox}/labels?prefix=+l+&cursor=${labels}`,
    `/v1/inboxes/${inbox}/trash?cursor=${trash}`,
  ]) {
    t.equal((await call(path)).status, 200, path);
  }
  for (const path of [
    `/v1/inboxes/${other}/messages?cursor=${plain}`,
    `${list}?cursor=${plain}&order=oldest`,
    `${list}?cursor=${plain}&${filter}`,
    `${list}?cursor=${filtered}`,
    `${list}?cursor=${filtered}&labels_all=x&labels_none=z`,
    `${list}?cursor=${filtered}&labels_all=x&labels_any=y&labels_none=z`,
    `${list}?cursor=${filtered}&${filter}&subject=a`,
    `${list}?cursor=${filtered}&${filter}&from=a@x.example`,
    `${list}?cursor=${filtered}&${filter}&after=2026-01-01T00:00:00Z`,
    `${list}?cursor=${labels}`,
    `${list}?cursor=${trash}`,
    `/v1/inboxes/${inbox}/trash?cursor=${plain}`,
    `/v1/inboxes/${other}/trash?cursor=${trash}`,
    `/v1/inboxes/${inbox}/labels?cursor=${labels}`,
    `/v1/inboxes/${inbox}/labels?prefix=l1&cursor=${labels}`,
    `/v1/inboxes/${inbox}/labels?prefix=L&cursor=${labels}`,
    `/v1/inboxes/${other}/labels?prefix=l&cursor=${labels}`,
    `/v1/inboxes/${inbox}/labels?prefix=l&cursor=${plain}`,
  ]) {
    const answer = await call(path);
    t.strictSame([answer.status, answer.json.error?.code], [400, 'invalid_cursor'], path);
  }
});
