import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { openStore, readFacts } from '../../support/box/store-facts.js';
import { acceptedId, writeLetter } from '../../support/letters/letters.js';
import { SENDER } from '../../support/smtp/deliver.js';
import { SmtpClient, stuff } from '../../support/smtp/smtp-client.js';

t.test('SIGTERM: idle clients hear 421, a message in DATA is finished, the exit code is 0', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const letter = writeLetter({ bytes: 300_000 });
  const bytes = stuff(letter.raw);
  const sender = await SmtpClient.ready(box.smtpPort);
  await sender.openData(SENDER, [agent.address]);
  await sender.write(bytes.subarray(0, 200_000));
  const idle = await SmtpClient.ready(box.smtpPort);
  const inEnvelope = await SmtpClient.ready(box.smtpPort);
  await inEnvelope.command(`MAIL FROM:<${SENDER}>`, 250);
  await inEnvelope.command(`RCPT TO:<${agent.address}>`, 250);

  const stopping = box.hear(/^stopping$/);
  const exit = box.stop();
  await stopping;
  t.equal((await idle.reply())?.text, '421 4.3.2 Service shutting down', 'idle');
  await idle.closed();
  t.equal((await inEnvelope.reply())?.code, 421, 'between RCPT and DATA');
  await t.rejects(SmtpClient.connect(box.smtpPort), { code: 'ECONNREFUSED' }, 'nobody new is let in');

  await sender.write(bytes.subarray(200_000));
  const id = acceptedId(await sender.expect(250));
  t.equal((await sender.reply())?.code, 421, 'the verdict first, then the farewell');
  t.same(await exit, { code: 0, signal: null });
  t.equal(box.heard(/takes too long/).length, 0, 'in order, not by the deadline');

  const store = openStore(box);
  const { messages, faults } = readFacts(store);
  await store.close();
  t.same([messages.map(message => message.id), faults], [[id], []]);
  await box.start();
  t.ok((await agent.api.raw(id)).equals(letter.raw), 'what was acknowledged is there');
  t.equal((await agent.api.finished(id)).processing_status, 'ready');
});

t.test('SIGTERM: a sender that never ends its message does not hold the daemon up', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const sender = await SmtpClient.ready(box.smtpPort);
  await sender.openData(SENDER, [agent.address]);
  await sender.write(writeLetter({ bytes: 300_000 }).raw);
  t.same(await box.stop(), { code: 0, signal: null });
  t.equal((await sender.reply())?.code, 421, 'it is told to come again');
  await box.start();
  t.equal(await agent.api.count(agent.inboxId), 0, 'and nothing of its message is there');
});

t.test('SIGINT is as good as SIGTERM', async t => {
  const box = await startBox(t);
  t.same(await box.signal('SIGINT'), { code: 0, signal: null });
});
