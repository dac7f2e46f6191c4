import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, createInbox, type TestAgent } from '../../support/box/agents.js';
import type { ApiAnswer, Page } from '../../support/box/api-client.js';
import { startBox } from '../../support/box/postern-box.js';
import { acceptedId } from '../../support/letters/letters.js';
import { SENDER } from '../../support/smtp/deliver.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';

const POLL_MS = 20;

/** A message of its own words, by SMTP; its id once it is ready. */
async function mail(agent: TestAgent, smtp: SmtpClient, subject: string, ...body: string[]): Promise<string> {
  const lines = [
    'From: Ann <ann@client.example>',
    `To: <${agent.address}>`,
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    ...body,
    '',
  ];
  const id = acceptedId(await smtp.sendMail(SENDER, [agent.address], Buffer.from(lines.join('\r\n'))));
  const { processing_status: status } = await agent.api.finished(id);
  if (status !== 'ready') throw new Error(`the message is ${status}`);
  return id;
}

const path = (agent: TestAgent, list: string, query: string) =>
  `/v1/inboxes/${agent.inboxId}/${list}?query=${encodeURIComponent(query)}`;

async function found(agent: TestAgent, query: string, more = '', list = 'messages'): Promise<string[]> {
  const answer = await agent.api.get(path(agent, list, query) + more);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.bytes.toString()}`);
  return answer.json<Page>().messages.map(({ id }) => id);
}

/** The answer once it is not that the index cannot be asked. */
async function answered(agent: TestAgent, query: string): Promise<ApiAnswer> {
  for (;;) {
    const answer = await agent.api.get(path(agent, 'messages', query));
    if (answer.status !== 503) return answer;
    if (answer.code !== 'content_unavailable') throw new Error(answer.bytes.toString());
    await delay(POLL_MS);
  }
}

t.test('mail is found as soon as it is ready, while it is there', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const smtp = await SmtpClient.ready(box.smtpPort);
  const invoice = await mail(
    agent,
    smtp,
    'Your invoice',
    'The sum of March is 70 EUR.',
    'Zahlbar in Zürich.',
  );
  t.same(await found(agent, 'invoice march'), [invoice], 'at once, in subject and body');
  const offer = await mail(agent, smtp, 'Offer', 'This is no invoice. 請求書は三月です。');
  t.same(await found(agent, 'INVOICE'), [offer, invoice]);
  t.same(await found(agent, 'invoice', '&order=oldest'), [invoice, offer]);
  t.same(await found(agent, '"no invoice"'), [offer]);
  t.same(await found(agent, 'zurich'), [invoice], 'without its accent');
  t.same(await found(agent, '請求'), [offer]);
  t.same(await found(agent, 'invoice -march'), [invoice], 'there are no operators');
  t.same(await found(agent, 'invoice', '&subject=offer'), [offer]);
  t.same((await found(agent, 'invoice', '&order=relevance')).sort(), [invoice, offer].sort());
  await agent.api.patch(`/v1/messages/${offer}`, { add_labels: ['seen'] });
  t.same(await found(agent, 'invoice', '&labels_none=seen'), [invoice]);
  const count = await agent.api.get(path(agent, 'messages/count', 'invoice'));
  t.same(count.json(), { count: 2 });

  await agent.api.post(`/v1/messages/${invoice}/trash`);
  t.same(await found(agent, 'invoice'), [offer]);
  await agent.api.post(`/v1/messages/${invoice}/restore`);
  t.same(await found(agent, 'invoice'), [offer, invoice]);
  await agent.api.delete(`/v1/messages/${offer}`);
  t.same(await found(agent, 'invoice'), [invoice]);

  const other = await createInbox(agent, 'other');
  const sent = await agent.api.post(`/v1/inboxes/${agent.inboxId}/sent`, {
    to: [{ address: other.address }],
    subject: 'About the invoice',
    text: 'Paid yesterday.',
  });
  const { message } = sent.json<{ message: { id: string } }>();
  t.same(await found(agent, 'invoice paid', '', 'sent'), [message.id]);
  const threads = await agent.api.get(path(agent, 'threads', 'invoice'));
  t.same(
    threads
      .json<{ threads: { matching_message_ids: string[] }[] }>()
      .threads.map(thread => thread.matching_message_ids),
    [[message.id], [invoice]],
  );

  const listed = await box.cliJson<Page>('message', 'list', agent.address, '--query', 'invoice march');
  t.same(
    listed.messages.map(({ id }) => id),
    [invoice],
  );
  const listedSent = await box.cliJson<Page>('sent', 'list', agent.address, '--query', 'paid');
  t.equal(listedSent.messages[0]?.id, message.id);
  await box.restart();
  t.same(await found(agent, 'invoice'), [invoice]);
  await box.stop();
  const stopped = await box.cliJson<Page>('message', 'list', agent.address, '--query', 'zurich');
  t.equal(stopped.messages[0]?.id, invoice, 'without the daemon, too');
});

for (const [accident, damage] of [
  ['deleted', (file: string) => rmSync(file)],
  ['overwritten', (file: string) => writeFileSync(file, Buffer.alloc(200_000, 'no index '))],
] as const) {
  t.test(`an index that is ${accident} while it is in use is made anew`, async t => {
    const box = await startBox(t);
    const [agent, other] = [await createAgent(box), await createAgent(box, 'other')];
    const smtp = await SmtpClient.ready(box.smtpPort);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift(await mail(agent, smtp, `Invoice ${n}`, 'of March'));
    const theirs = await mail(other, smtp, 'Invoice', 'of April');
    const folder = join(box.dataDir, 'store', 'search');
    const file = join(existsSync(folder) ? folder : join(box.dataDir, 'search'), `${agent.accountId}.index`);
    // By then all of it is in the index.
    while (!existsSync(file)) await delay(POLL_MS);
    await delay(1_000);
    damage(file);
    const answers = [await answered(agent, 'invoice')];
    ids.unshift(await mail(agent, smtp, 'Invoice 5', 'of May'));
    answers.push(await answered(agent, 'invoice'));
    t.same(
      answers.map(answer => answer.json<Page>().messages.length),
      [5, 6],
      'whole answers only',
    );
    t.same(await found(other, 'invoice'), [theirs]);
    t.ok(readdirSync(join(file, '..')).includes(`${agent.accountId}.index`));
  });
}
