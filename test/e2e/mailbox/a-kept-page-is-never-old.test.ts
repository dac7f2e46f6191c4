import t from 'tap';
import type { AccountId } from '../../../src/domain/ids.js';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { openStore } from '../../support/box/store-facts.js';
import { deliver } from '../../support/smtp/deliver.js';
import { changeLabels, deleteMessage, receivedMessages } from '../../support/use-cases.js';

t.test('a list that was asked for before shows every change since, whoever made it', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const other = await createAgent(box, 'other');
  const look = async () => {
    // Twice: what the first answer leaves behind is what the second could be.
    await agent.api.page(agent.inboxId);
    const { messages } = await agent.api.page(agent.inboxId);
    return messages.map(({ id, labels }) => [id, ...labels].join(' '));
  };
  t.same(await look(), []);
  const first = await deliver(box, agent.address, 'Subject: one\r\n\r\n1\r\n');
  await agent.api.finished(first);
  t.same(await look(), [first], 'a message that came');
  const labelled = await agent.api.request('PATCH', `/v1/messages/${first}`, { body: { add_labels: ['a'] } });
  t.equal(labelled.status, 200);
  t.same(await look(), [`${first} a`], 'a label through the API');

  const store = openStore(box);
  t.teardown(() => store.close());
  const deps = { store, access: receivedMessages, clock: Date.now };
  const input = { accountId: agent.accountId as AccountId, messageId: first };
  await changeLabels(deps, { ...input, addLabels: ['b'], removeLabels: ['a'] });
  t.same(await look(), [`${first} b`], 'a label by another process');

  const second = await deliver(box, agent.address, 'Subject: two\r\n\r\n2\r\n');
  t.same(await look(), [second, `${first} b`], 'a second message');
  await agent.api.request('POST', `/v1/messages/${second}/trash`);
  t.same(await look(), [`${first} b`], 'Trash');
  await agent.api.request('POST', `/v1/messages/${second}/restore`);
  t.same(await look(), [second, `${first} b`], 'back from Trash');
  await deleteMessage(deps, input);
  t.same(await look(), [second], 'a deletion by another process');

  const path = `/v1/inboxes/${agent.inboxId}/messages`;
  t.equal((await other.api.get(path)).status, 404, 'another account is not shown a page that is kept');
  await agent.api.delete(`/v1/inboxes/${agent.inboxId}`);
  t.equal((await agent.api.get(path)).status, 404, 'nor is the owner, of an inbox that is gone');
});
