import t from 'tap';
import { beginRebuild } from '../../../../src/store/records/search.js';
import { SearchedHouse } from '../../usecases/search/with-search.js';
import { withServer } from '../with-server.js';

async function withMail(t: Parameters<typeof withServer>[0]) {
  const server = await withServer(t);
  const searched = new SearchedHouse(server.house, server.index);
  const inbox = await server.house.addInbox('agent');
  return { ...server, searched, inbox, path: `/v1/inboxes/${inbox}` };
}

t.test('lists, counts and conversations take words', async t => {
  const { call, searched, inbox, path } = await withMail(t);
  const invoice = await searched.receive(inbox, { subject: 'Rechnung März', text: 'für STRASSE 7' });
  await searched.receive(inbox, { subject: 'Offer', text: 'something else' });
  await searched.takeIn();
  const recent = await searched.receive(inbox, { text: 'die Straße', conversation: 'a@x' });
  const sent = await searched.send(inbox, { text: 'meine Straße', conversation: 'a@x' });
  const idsOf = async (query: string) =>
    (await call(`${path}/${query}`)).json.messages.map(({ id }: { id: string }) => id);
  t.strictSame(await idsOf('messages?query=strasse'), [recent, invoice]);
  t.strictSame(await idsOf('messages?query=strasse&order=oldest'), [invoice, recent]);
  t.strictSame(await idsOf('messages?query=%22rechnung+marz%22'), [invoice]);
  t.strictSame(await idsOf('messages?query=strasse+rechnung'), [invoice], 'in the subject and in the body');
  t.strictSame(await idsOf('messages?query=strasse&from=nobody%40x.example'), []);
  t.strictSame(await idsOf('messages?query=strasse&include=preview'), [recent, invoice]);
  t.strictSame((await call(`${path}/messages/count?query=strasse`)).json, { count: 2 });
  t.strictSame(await idsOf('sent?query=strasse'), [sent]);
  const { threads } = (await call(`${path}/threads?query=strasse`)).json;
  t.strictSame(
    threads.map(({ matching_message_ids: ids }: { matching_message_ids: string[] }) => ids),
    [[sent, recent], [invoice]],
  );
  const best = (await call(`${path}/threads?query=strasse&order=relevance&limit=1`)).json;
  t.equal(best.threads.length, 1);
  t.ok(best.next_cursor);
});

t.test('a page is answered from the cache until the inbox changes, one by relevance is not', async t => {
  const { call, searched, inbox, path, index } = await withMail(t);
  for (let n = 0; n < 3; n++) await searched.receive(inbox, { text: 'an invoice' });
  await searched.takeIn();
  const asked = async (query: string): Promise<number> => {
    const before = index.asked.length;
    t.equal((await call(`${path}/messages?query=invoice${query}`)).json.messages.length, 2);
    return index.asked.length - before;
  };
  t.equal(await asked('&limit=2'), 1);
  t.equal(await asked('&limit=2'), 0);
  t.equal(await asked('&limit=2&order=relevance'), 1);
  t.equal(await asked('&limit=2&order=relevance'), 1);
  await searched.receive(inbox, { text: 'an invoice' });
  t.equal(await asked('&limit=2'), 1);
});

t.test('pages by relevance go on where they ended, as long as their order is kept', async t => {
  const { call, searched, inbox, path } = await withMail(t);
  const ids: string[] = [];
  for (let n = 1; n <= 3; n++) ids.push(await searched.receive(inbox, { text: 'invoice '.repeat(n) }));
  await searched.takeIn();
  const list = `${path}/messages?query=invoice&order=relevance&limit=2`;
  const first = (await call(list)).json;
  t.strictSame(
    first.messages.map(({ id }: { id: string }) => id),
    [ids[2], ids[1]],
  );
  const second = (await call(`${list}&cursor=${first.next_cursor}`)).json;
  t.strictSame([second.messages[0].id, second.messages.length, second.next_cursor], [ids[0], 1, null]);
  for (const other of ['query=invoice&limit=2', 'query=invoices&order=relevance&limit=2']) {
    const answer = await call(`${path}/messages?${other}&cursor=${first.next_cursor}`);
    t.strictSame([answer.status, answer.json.error.code], [400, 'invalid_cursor'], other);
  }
  for (let n = 0; n < 16; n++) await call(list);
  const gone = await call(`${list}&cursor=${first.next_cursor}`);
  t.strictSame([gone.status, gone.json.error.code], [400, 'invalid_cursor']);
  t.match(gone.json.error.message, /Search again/);
});

t.test(
  'while the index is made anew, searches say when to come again, and other lists are answered',
  async t => {
    const { call, searched, inbox, path, house } = await withMail(t);
    await searched.receive(inbox, { text: 'an invoice' });
    await house.store.write(writer => beginRebuild(writer, house.account, 'a test', house.now.ms));
    for (const list of ['messages', 'messages/count', 'sent', 'threads']) {
      const answer = await call(`${path}/${list}?query=invoice`);
      t.strictSame([answer.status, answer.json.error.code], [503, 'content_unavailable'], list);
      t.equal(answer.headers['retry-after'], '30', list);
      t.equal((await call(`${path}/${list}`)).status, 200, list);
    }
  },
);
