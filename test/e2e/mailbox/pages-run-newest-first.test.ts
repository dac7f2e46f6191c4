import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { acceptedId, writeLetter } from '../../support/letters/letters.js';
import { SENDER } from '../../support/smtp/deliver.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';

t.test('an inbox is listed newest first, page by page, whatever arrives or goes meanwhile', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const other = await createInbox(agent, 'other');
  const client = await SmtpClient.ready(box.smtpPort);
  const send = async (address: string) =>
    acceptedId(await client.sendMail(SENDER, [address], writeLetter().raw));
  const ids: string[] = [];
  for (let i = 0; i < 45; i++) ids.unshift(await send(agent.address));

  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const page = await agent.api.page(agent.inboxId, query);
    pages.push(page.messages.map(message => message.id));
    cursor = page.next_cursor;
    if (pages.length === 1) {
      await send(agent.address);
      await agent.api.delete(`/v1/messages/${ids[30]}`);
    }
  } while (cursor !== null);
  t.same(
    pages.map(page => page.length),
    [20, 20, 4],
    'twenty a page by default',
  );
  t.same(
    pages.flat(),
    ids.filter((_, index) => index !== 30),
    'each once, newest first',
  );
  t.equal(await agent.api.count(agent.inboxId), 45, 'the count knows what came and what went');

  const { next_cursor: own } = await agent.api.page(agent.inboxId, '?limit=2');
  const exact = await agent.api.page(agent.inboxId, `?limit=100&cursor=${own}`);
  t.equal(exact.messages.length, 43);
  t.equal(exact.next_cursor, null, 'no cursor behind the last message');
  for (let i = 0; i < 3; i++) await send(other.address);
  const { next_cursor: foreign } = await agent.api.page(other.id, '?limit=2');

  const refusals: [string, string][] = [
    [`cursor=${foreign}`, 'invalid_cursor'],
    [`cursor=${own!.slice(0, -1)}`, 'invalid_cursor'],
    [`cursor=${own!.slice(0, -1)}${own!.endsWith('A') ? 'B' : 'A'}`, 'invalid_cursor'],
    ['cursor=', 'invalid_cursor'],
    ['limit=0', 'invalid_limit'],
    ['limit=101', 'invalid_limit'],
    ['limit=01', 'invalid_limit'],
    ['limit=%2B5', 'invalid_limit'],
    ['limit=1e1', 'invalid_limit'],
    ['limit=', 'invalid_limit'],
    ['limit=5&limit=5', 'invalid_search'],
    ['lables_all=x', 'invalid_search'],
  ];
  for (const [query, code] of refusals) {
    const got = await agent.api.get(`/v1/inboxes/${agent.inboxId}/messages?${query}`);
    t.same([got.status, got.code], [400, code], query);
  }
  const count = await agent.api.get(`/v1/inboxes/${agent.inboxId}/messages/count?limit=3`);
  t.same([count.status, count.code], [400, 'invalid_search'], 'a count takes no limit');
  await client.close();
});
