import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { acceptedId, writeLetter } from '../../support/letters/letters.js';
import { deliver, SENDER } from '../../support/smtp/deliver.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';

const box = await startBox(t);
const agent = await createAgent(box, 'agent');

t.test('an address reaches its inbox in any letter case and with any tag', async t => {
  for (const address of [
    'agent@example.org',
    'AGENT@Example.ORG',
    'agent+news@example.org',
    'Agent+a+b@EXAMPLE.org',
  ]) {
    const detail = await agent.api.detail(await deliver(box, address, writeLetter()));
    t.equal(detail.inbox_id, agent.inboxId, address);
    t.equal(detail.envelope_to, address, `${address}: kept as the sender wrote it`);
  }
});

t.test('recipients that are not served are refused, the others of the same envelope are not', async t => {
  const [first, second] = [await createInbox(agent, 'first'), await createInbox(agent, 'second')];
  const client = await SmtpClient.ready(box.smtpPort);
  await client.command(`MAIL FROM:<${SENDER}>`, 250);
  await client.command('RCPT TO:<nobody@example.org>', 550);
  await client.command('RCPT TO:<first@example.org>', 250);
  await client.command('RCPT TO:<first@elsewhere.example>', 550);
  await client.command('RCPT TO:<second+tag@example.org>', 250);
  await client.command('RCPT TO:<first+again@example.org>', 250);
  await client.command('DATA', 354);
  const letter = writeLetter();
  await client.write(letter.raw);
  const id = acceptedId(await client.command('.', 250));
  await client.close();

  t.equal((await agent.api.detail(id)).inbox_id, first.id, 'the reply names the first copy');
  const copies = [...(await agent.api.all(first.id)), ...(await agent.api.all(second.id))];
  t.same(
    copies.map(copy => copy.envelope_to),
    ['first@example.org', 'second+tag@example.org'],
    'one copy an inbox, under the first address that reached it',
  );
  for (const copy of copies) t.ok((await agent.api.raw(copy.id)).equals(letter.raw), copy.envelope_to);
  for (const copy of copies) t.equal((await agent.api.finished(copy.id)).processing_status, 'ready');
});

t.test('the null sender of a bounce is kept', async t => {
  const id = await deliver(box, agent.address, writeLetter(), '');
  t.equal((await agent.api.detail(id)).envelope_from, '');
  const other = await deliver(box, agent.address, writeLetter(), 'Mixed.Case+Tag@Client.Example');
  t.equal((await agent.api.detail(other)).envelope_from, 'Mixed.Case+Tag@Client.Example');
});
