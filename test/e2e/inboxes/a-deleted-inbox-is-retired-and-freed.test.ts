import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../../support/box/store-facts.js';
import { writeLetter } from '../../support/letters/letters.js';
import { deliver, SENDER } from '../../support/smtp/deliver.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';

t.test(
  'a deleted inbox is out of reach at once, its address never comes back, its bytes are freed',
  async t => {
    const box = await startBox(t);
    const agent = await createAgent(box, 'agent');
    const other = await createInbox(agent, 'other');
    const id = await deliver(box, [agent.address, other.address], writeLetter({ bytes: 300_000 }));
    for (let i = 0; i < 5; i++) await deliver(box, agent.address, writeLetter({ bytes: 100_000 }));
    await agent.api.finished(id);

    const client = await SmtpClient.ready(box.smtpPort);
    await client.openData(SENDER, [agent.address]);
    const deleted = await agent.api.delete(`/v1/inboxes/${agent.inboxId}`);
    t.match(
      { status: deleted.status, ...deleted.json<object>() },
      {
        status: 'deletion_pending',
        id: agent.inboxId,
      },
    );
    t.equal(deleted.status, 202);

    await client.write('Subject: too late\r\n\r\n.\r\n');
    t.equal((await client.reply())?.code, 550, 'a message whose recipients have all gone is refused');
    await client.command(`MAIL FROM:<${SENDER}>`, 250);
    t.equal((await client.command(`RCPT TO:<${agent.address}>`)).code, 550, 'RCPT');
    await client.close();
    for (const path of ['', '/messages', '/messages/count', '/sending-policy', '/receiving-policy']) {
      t.equal((await agent.api.get(`/v1/inboxes/${agent.inboxId}${path}`)).status, 404, `GET ${path}`);
    }
    t.equal((await agent.api.delete(`/v1/inboxes/${agent.inboxId}`)).status, 404, 'a second deletion');
    t.equal((await agent.api.get(`/v1/messages/${id}`)).status, 404, 'its messages');
    t.equal((await agent.api.get(`/v1/messages/${id}/raw`)).status, 404, 'their bytes');

    const again = await agent.api.post('/v1/inboxes', { local_part: 'agent' });
    t.same([again.status, again.code], [409, 'address_unavailable']);
    t.equal((await agent.api.get('/v1/inboxes')).json<{ inboxes: unknown[] }>().inboxes.length, 1);

    const facts = await untilFacts(box, isAtRest);
    t.same(facts.faults, []);
    t.equal(facts.messages.length, 1, 'the copy in the other inbox is untouched');
    const [copy] = await agent.api.all(other.id);
    t.equal((await agent.api.raw(copy!.id)).length, facts.messages[0]!.raw.size);

    await agent.api.delete(`/v1/messages/${copy!.id}`);
    t.equal((await untilFacts(box, isAtRest)).chunks, 0, 'the shared bytes go with their last owner');
  },
);
