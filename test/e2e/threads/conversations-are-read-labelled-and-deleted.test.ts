import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import type { Detail } from '../../support/box/api-client.js';
import { startBox } from '../../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../../support/box/store-facts.js';
import { writeLetter } from '../../support/letters/letters.js';
import { mixedMessage } from '../../support/letters/mixed-message.js';
import { deliver } from '../../support/smtp/deliver.js';
import { matchAll } from '../../unit/usecases/threads/with-threads.js';

interface Thread {
  readonly id: string;
  readonly subject: string | null;
  readonly message_count: number;
  readonly latest_message: { readonly id: string; readonly counterpart: { readonly address: string } | null };
  readonly matching_message_ids?: readonly string[];
}

type Member = Detail & { readonly direction: string; readonly timestamp: string };
type ThreadPage = Thread & { readonly messages: readonly Member[]; readonly next_cursor: string | null };

t.test('real mail makes conversations, through a restart and whatever comes late', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const { api, inboxId } = agent;
  const send = async (message: Parameters<typeof deliver>[2]) => {
    const id = await deliver(box, agent.address, message);
    await api.finished(id);
    return id;
  };
  const threads = async (query = '') =>
    (await api.get(`/v1/inboxes/${inboxId}/threads${query}`)).json<{ threads: Thread[] }>().threads;
  const detail = async (id: string, query = '') =>
    (await api.get(`/v1/threads/${id}${query}`)).json<ThreadPage>();
  const ids = (messages: readonly { id: string }[]) => messages.map(({ id }) => id);

  const question = writeLetter({ subject: 'A question' });
  const answer = writeLetter({ subject: 'Re: A question', references: [question.messageId] });
  const other = writeLetter({ subject: 'Another matter' });
  const aside = writeLetter({ subject: 'Re: Another matter', references: [other.messageId], bytes: 120_000 });
  const tie = writeLetter({ subject: 'Both', references: [answer.messageId, aside.messageId] });
  const mixed = mixedMessage();

  const early = await send(answer);
  const parent = await send(question);
  const alone = await send(mixed.raw);
  const second = [await send(aside), await send(other)];
  matchAll(t, await threads(), [
    { message_count: 2, subject: 'Re: Another matter', latest_message: { id: second[1] } },
    { message_count: 1, latest_message: { id: alone } },
    { message_count: 2, subject: 'Re: A question', latest_message: { id: parent } },
  ]);
  const [young, , old] = await threads();
  const last = await send(tie);
  const listed = await threads();
  t.match(listed[0], { id: old!.id, message_count: 5, latest_message: { id: last } });
  t.equal(listed.length, 2);

  const page = await detail(young!.id, '?limit=2');
  t.equal(page.id, old!.id, 'the younger id leads to the older one');
  t.strictSame(ids(page.messages), [second[1], last]);
  const rest = await detail(young!.id, `?limit=10&cursor=${page.next_cursor}`);
  t.strictSame([ids(rest.messages), rest.next_cursor], [[early, parent, second[0]], null]);
  for (const member of [...rest.messages, ...page.messages]) {
    const { direction, timestamp, ...plain } = member;
    t.strictSame(plain, await api.detail(member.id), 'a member is what its detail is');
    t.strictSame([direction, timestamp], ['received', member.received_at]);
    t.equal(member.thread_id, old!.id);
  }
  t.ok(
    (await api.page(inboxId)).messages.every(({ id, thread_id }) => id === alone || thread_id === old!.id),
  );

  const change = { add_labels: ['handled'] };
  t.match((await api.patch(`/v1/threads/${young!.id}`, change)).json(), { id: old!.id, message_count: 5 });
  t.strictSame(ids((await api.page(inboxId, '?labels_all=handled')).messages).length, 5);
  const [found] = await threads('?labels_all=handled&subject=another');
  t.strictSame(found?.matching_message_ids, [second[1], second[0]]);

  t.equal((await api.delete(`/v1/threads/${old!.id}`)).status, 202);
  t.equal((await api.get(`/v1/threads/${young!.id}`)).status, 404);
  t.equal((await api.delete(`/v1/threads/${old!.id}`)).status, 404);
  await box.restart();
  t.strictSame(
    (await threads()).map(({ latest_message }) => latest_message.id),
    [alone],
  );
  for (const id of [early, parent, ...second, last]) {
    t.match((await api.post(`/v1/messages/${id}/restore`)).json(), {
      status: 'restored',
      thread_id: old!.id,
    });
  }
  matchAll(t, await threads(), [{ id: old!.id, message_count: 5 }, { message_count: 1 }]);
  t.match(await box.cliJson('message', 'show', parent), { thread_id: old!.id });
  t.match(await box.cliJson('message', 'reparse', parent), { processing_status: 'pending' });
  await box.restart();
  t.equal((await api.finished(parent)).thread_id, old!.id, 'parsed again, it is where it was');

  for (const id of [early, parent, ...second, last]) await api.delete(`/v1/messages/${id}`);
  t.equal((await api.get(`/v1/threads/${old!.id}`)).status, 404);
  await api.delete(`/v1/inboxes/${inboxId}`);
  await untilFacts(box, isAtRest);
  t.match(await box.cliJson('verify'), { sound: true, messages: 0, threads: 0, pending: 0 });
});
