import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../../support/box/store-facts.js';
import { writeLetter } from '../../support/letters/letters.js';
import { mixedMessage } from '../../support/letters/mixed-message.js';
import { deliver } from '../../support/smtp/deliver.js';

t.test(
  'mail is labelled, found, trashed and restored, through a restart and beside the command line',
  async t => {
    const box = await startBox(t);
    const agent = await createAgent(box);
    const { api, inboxId } = agent;
    const mixed = mixedMessage();
    const first = await deliver(box, agent.address, mixed.raw);
    const second = await deliver(box, agent.address, writeLetter({ subject: 'Invoice 7' }));
    const third = await deliver(box, agent.address, writeLetter({ subject: 'Re: INVOICE 7' }));
    for (const id of [first, second, third]) await api.finished(id);

    const messages = `/v1/inboxes/${inboxId}/messages`;
    const find = async (query: string) => {
      const page = await api.page(inboxId, `?${query}`);
      const count = (await api.get(`${messages}/count?${query}`)).json<{ count: number }>().count;
      t.equal(count, page.messages.length, query);
      return page.messages.map(({ id }) => id);
    };
    t.strictSame((await api.patch(`/v1/messages/${first}`, { add_labels: ['handled', ' to do '] })).json(), {
      id: first,
      labels: ['handled', 'to do'],
    });
    const batch = { message_ids: [third, second], add_labels: ['invoice'], remove_labels: ['absent'] };
    t.strictSame((await api.patch('/v1/messages/labels', batch)).json(), {
      messages: [
        { id: third, labels: ['invoice'] },
        { id: second, labels: ['invoice'] },
      ],
    });
    t.strictSame(await find('labels_all=invoice'), [third, second]);
    t.strictSame(await find('labels_any=handled&labels_any=invoice'), [third, second, first]);
    t.strictSame(await find('labels_none=handled'), [third, second]);
    t.strictSame(await find('subject=invoice%207'), [third, second]);
    t.strictSame(await find('from=SENDER@client.example&recipient=agent@example.org'), [
      third,
      second,
      first,
    ]);
    const { received_at } = await api.detail(second);
    t.ok((await find(`after=${received_at}`)).includes(second), 'after is inclusive');
    t.notOk((await find(`before=${received_at}`)).includes(second), 'before is not');
    t.strictSame((await api.get(`/v1/inboxes/${inboxId}/labels?prefix=i`)).json(), {
      labels: [{ name: 'invoice', received_count: 2, sent_count: 0 }],
      next_cursor: null,
    });

    t.match((await api.post(`/v1/messages/${first}/trash`)).json(), { id: first, status: 'trashed' });
    t.match(await box.cliJson('message', 'trash', second), { id: second, status: 'trashed' });
    t.equal((await api.get(`/v1/messages/${second}`)).status, 404);
    t.strictSame(
      (await api.page(inboxId)).messages.map(({ id }) => id),
      [third],
    );
    await box.restart();
    const trash = (await api.get(`/v1/inboxes/${inboxId}/trash`)).json<{ messages: { id: string }[] }>();
    t.strictSame(
      trash.messages.map(({ id }) => id),
      [second, first],
    );
    t.match((await api.post(`/v1/messages/${first}/restore`)).json(), { status: 'restored' });
    t.match(await box.cliJson('message', 'restore', second), { status: 'restored' });
    t.strictSame(
      (await api.page(inboxId)).messages.map(({ id }) => id),
      [third, second, first],
    );
    const restored = await api.detail(first);
    t.strictSame(restored.labels, ['handled', 'to do']);
    for (const [at, attachment] of restored.content!.attachments.entries()) {
      t.ok(
        (await api.attachment(first, attachment)).equals(mixed.attachments[at]!.bytes),
        attachment.filename ?? '',
      );
    }

    const listed = await box.cliJson<{ messages: { id: string }[] }>(
      'message',
      'list',
      agent.address,
      '--label',
      'invoice',
      '--order',
      'oldest',
    );
    t.strictSame(
      listed.messages.map(({ id }) => id),
      [second, third],
    );
    t.match(await box.cliJson('account', 'permissions', '--account', agent.email, '--no-delete'), {
      delete: false,
    });
    t.equal((await api.post(`/v1/messages/${third}/trash`)).code, 'operation_not_allowed');
    t.match(await box.cliJson('message', 'reparse', third), { processing_status: 'pending' });
    await box.restart();
    t.equal(
      (await api.finished(third)).processing_status,
      'ready',
      'at its start at the latest the daemon takes it up',
    );
    t.strictSame(await find('labels_all=invoice&subject=re:'), [third]);
    t.match(await box.cliJson('message', 'delete', first), { status: 'deletion_pending' });
    const facts = await untilFacts(box, isAtRest);
    t.strictSame(facts.faults, []);
    t.equal(facts.messages.length, 2);
  },
);
