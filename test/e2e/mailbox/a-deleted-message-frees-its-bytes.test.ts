import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../../support/box/store-facts.js';
import { writeLetter } from '../../support/letters/letters.js';
import { mixedMessage } from '../../support/letters/mixed-message.js';
import { deliver } from '../../support/smtp/deliver.js';

t.test('a deleted message is gone at once and its bytes are freed', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const small = await deliver(box, agent.address, writeLetter());
  const large = await deliver(box, agent.address, writeLetter({ bytes: 12_000_000 }));
  const mixed = await deliver(box, agent.address, mixedMessage().raw);
  for (const id of [small, large, mixed]) await agent.api.finished(id);
  const { attachments } = await agent.api.content(mixed);
  t.ok((await untilFacts(box, isAtRest)).chunks > 185, 'the bytes are in the store');

  for (const id of [small, large, mixed]) {
    const deleted = await agent.api.delete(`/v1/messages/${id}`);
    t.equal(deleted.status, 202);
    t.match(deleted.json(), { id, status: 'deletion_pending' });
    for (const path of ['', '/raw', `/attachments/${attachments[0]!.id}`]) {
      t.equal((await agent.api.get(`/v1/messages/${id}${path}`)).status, 404, `GET ${path}`);
    }
    t.equal((await agent.api.delete(`/v1/messages/${id}`)).status, 404, 'a second deletion');
  }
  t.same(await agent.api.page(agent.inboxId), { messages: [], next_cursor: null });
  t.equal(await agent.api.count(agent.inboxId), 0);

  const facts = await untilFacts(box, isAtRest);
  t.same([facts.chunks, facts.messages.length, facts.faults], [0, 0, []]);
});
