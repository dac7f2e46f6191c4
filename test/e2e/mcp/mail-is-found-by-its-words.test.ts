import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { McpClient } from '../../support/mcp/mcp-client.js';
import { deliver } from '../../support/smtp/deliver.js';

const box = await startBox(t);
const agent = await createAgent(box);
const client = new McpClient(box, agent.credential);
const { inboxId: inbox_id } = agent;

const receive = async (Subject: string, text: string): Promise<string> => {
  const id = await deliver(box, agent.address, mimeLetter({ headers: { Subject }, text }));
  await agent.api.finished(id);
  return id;
};

const QUOTED = 'On Mon, 2 Mar 2026 at 10:00, Agent <agent@example.org> wrote:\n> Which day?\n> Which hour?';
const once = await receive('Re: Invoice', `The ferry leaves on Friday.\n\n${QUOTED}\n`);
const often = await receive('Ferry', 'Ferry, ferry and ferry again.');
const other = await receive('Nothing', 'Something else.');

interface Page {
  readonly messages: readonly { readonly id: string; readonly preview?: { readonly text: string } | null }[];
}

const found = async (args: object): Promise<string[]> =>
  (await client.call<Page>('list_messages', { inbox_id, ...args })).messages.map(({ id }) => id);

t.test('by words and phrases, in the order that is asked for', async t => {
  t.same(await found({ query: 'ferry' }), [often, once]);
  t.same(await found({ query: 'ferry', order: 'oldest' }), [once, often]);
  t.equal((await found({ query: 'ferry', order: 'relevance' }))[0], often);
  t.same(await found({ query: '"leaves on friday"' }), [once]);
  t.same(await found({ query: 'nowhere' }), []);
  t.same(await found({}), [other, often, once]);
  t.match(await client.call('count_messages', { inbox_id, query: 'FERRY' }), { count: 2 });
  t.match(await client.call('list_threads', { inbox_id, query: 'friday' }), {
    threads: [{ matching_message_ids: [once] }],
  });
});

t.test('a query that is none is refused', async t => {
  const queries: object[] = [
    { query: ' ' },
    { query: '"open' },
    { order: 'relevance' },
    { query: ['a', 'b'] },
  ];
  for (const wrong of queries) {
    t.match(await client.failure('list_messages', { inbox_id, ...wrong }), { code: 'invalid_search' });
  }
});

t.test('entries have previews when they are asked for: words of strangers, and marked as such', async t => {
  const args = { inbox_id, query: 'friday', include_preview: true };
  const { messages } = await client.call<Page>('list_messages', args);
  const [{ preview } = {}] = messages;
  t.match(preview, { truncated: false, source: 'reply_text' });
  t.match(preview?.text, /^<untrusted-(\w+)>The ferry leaves on Friday\.<\/untrusted-\1>$/);
  const { threads } = await client.call<{ threads: { latest_message: { preview: { text: string } } }[] }>(
    'list_threads',
    args,
  );
  t.match(threads[0]?.latest_message.preview.text, /^<untrusted-(\w+)>The ferry.*<\/untrusted-\1>$/);
  const plain = await client.call<Page>('list_messages', { inbox_id });
  t.notOk(plain.messages.some(message => 'preview' in message));
  t.match(await client.failure('list_messages', { inbox_id, include_preview: 'yes' }), {
    code: 'invalid_request',
  });
});

t.test('the new words of an answer are what is read first', async t => {
  const short = await client.call<{ content: { text: string } }>('get_message', { message_id: once });
  t.match(short, { body_source: 'reply_text' });
  t.match(short.content.text, /^<untrusted-(\w+)>The ferry leaves on Friday\.<\/untrusted-\1>$/);
  const full = await client.call<{ content: { text: string; reply_text: string } }>('get_message', {
    message_id: once,
    format: 'full',
  });
  t.match(full.content.text, /> Which day\?/);
  t.match(full.content.reply_text, /^<untrusted-(\w+)>The ferry leaves on Friday\.<\/untrusted-\1>$/);
});
