import t from 'tap';
import { createAgent, createInbox, type TestAgent } from '../../support/box/agents.js';
import { type PosternBox, startBox } from '../../support/box/postern-box.js';
import { acceptedId } from '../../support/letters/letters.js';
import { deliver, SENDER } from '../../support/smtp/deliver.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';

const REFUSAL = '550 5.7.1 The recipient does not accept mail from this sender';

const letter = (from: string) => `From: ${from}\r\nSubject: hello\r\n\r\nHello\r\n`;

interface Policy {
  readonly revision: number;
}

function receiving(box: PosternBox, ...args: string[]): Promise<Policy> {
  return box.cliJson<Policy>('policy', 'receiving', ...args);
}

async function boxWithAgent(
  env: Record<string, string> = {},
): Promise<{ box: PosternBox; agent: TestAgent }> {
  const box = await startBox(t, { env });
  return { box, agent: await createAgent(box) };
}

t.test('a change on the command line holds for the next final dot, on open sessions too', async t => {
  const { box, agent } = await boxWithAgent();
  const client = await SmtpClient.ready(box.smtpPort);
  const send = async (from: string) => (await client.sendMail(SENDER, [agent.address], letter(from))).text;
  const before = acceptedId({ code: 250, text: await send('Bad <bad@spam.example>') });

  // The transaction is under way when the admin is answered.
  await client.openData(SENDER, [agent.address]);
  await client.write('From: bad@spam.example\r\n');
  const saved = await receiving(box, 'set', agent.address, '--enable', '--domain', 'Spam.example');
  await client.write('\r\nHello\r\n.\r\n');
  t.equal((await client.expect(550)).text, REFUSAL);
  t.equal(await send('Bad <Other@SPAM.example>'), REFUSAL);
  t.match(await send('good@fine.example'), /^250 /, 'others are taken in the same session');

  t.same((await agent.api.get(`/v1/inboxes/${agent.inboxId}/receiving-policy`)).json(), saved);
  t.match(saved, { enabled: true, addresses: [], domains: ['spam.example'], revision: 1 });
  t.equal(await agent.api.count(agent.inboxId), 2, 'no copy of what was refused');
  t.equal((await agent.api.finished(before)).processing_status, 'ready', 'what was there before stays');

  await receiving(box, 'disable', agent.address);
  t.match(await send('bad@spam.example'), /^250 /, 'nor does it hold any longer than it is on');
  await client.close();
});

t.test('of several recipients those that refuse get no copy, and the others do', async t => {
  const { box, agent } = await boxWithAgent();
  const open = await createInbox(agent, 'open');
  await receiving(box, 'set', agent.address, '--enable', '--address', 'bad@spam.example');
  const id = await deliver(box, [agent.address, open.address], letter('bad@spam.example'));
  t.match(await agent.api.detail(id), { inbox_id: open.id, envelope_to: open.address });
  t.equal(await agent.api.count(agent.inboxId), 0);
  await receiving(box, 'set', open.address, '--enable', '--domain', 'spam.example');
  await t.rejects(deliver(box, [agent.address, open.address], letter('bad@spam.example')), /550 5\.7\.1/);
  t.equal(await agent.api.count(open.id), 1);
});

t.test(
  'mail for postmaster and abuse is taken from anybody; mail for the inbox behind them is not',
  async t => {
    const { box, agent } = await boxWithAgent({ POSTERN_MAIL_POSTMASTER_INBOX: 'agent@example.org' });
    await receiving(box, 'set', agent.address, '--enable', '--domain', 'spam.example');
    const roles = ['postmaster', '"PostMaster"@example.org', 'abuse+x@example.org'];
    for (const role of roles) await deliver(box, role, letter('bad@spam.example'));
    for (const name of [agent.address, '"agent"@example.org', 'agent+postmaster@example.org']) {
      await t.rejects(deliver(box, name, letter('bad@spam.example')), /550 5\.7\.1/, name);
    }
    t.same((await agent.api.all(agent.inboxId)).map(copy => copy.envelope_to).reverse(), roles);
  },
);
