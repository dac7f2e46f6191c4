import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { McpClient } from '../../support/mcp/mcp-client.js';
import { deliver } from '../../support/smtp/deliver.js';

const box = await startBox(t);
const agent = await createAgent(box);
const peer = await createAgent(box, 'peer');
const client = new McpClient(box, agent.credential);
const { inboxId: inbox_id } = agent;

const receive = async (letter: Buffer): Promise<string> => {
  const id = await deliver(box, agent.address, letter);
  await agent.api.finished(id);
  return id;
};

const line = `${'All work and no play. '.repeat(3)}\n`;
const LONG = line.repeat(50_000);
const bytes = randomBytes(300_000);

interface Message {
  readonly content: { readonly text: string; readonly html?: string; readonly attachments: { id: string }[] };
  readonly body_truncated: boolean;
}

interface Files {
  readonly attachments: readonly object[];
}

interface Chunk {
  readonly content: string;
  readonly next_offset: number | null;
  readonly total_bytes: number;
}

t.test('a long body is cut, and says so; its original bytes can be read to the end', async t => {
  const letter = mimeLetter({ text: LONG, html: '<p>Short</p>' });
  const message_id = await receive(letter);
  const first = await client.call<Message>('get_message', { message_id });
  t.equal(first.body_truncated, true);
  t.ok(first.content.text.length < 70_000, `${first.content.text.length}`);
  t.notOk('html' in first.content, 'where there is text, it is enough');
  const full = await client.call<Message>('get_message', { message_id, format: 'full' });
  t.equal(full.body_truncated, true);
  t.ok(full.content.text.length > 450_000 && full.content.text.length < 550_000);
  t.match(full.content.html, 'Short');
  const parts: Buffer[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const chunk: Chunk = await client.call('read_raw_message', { message_id, offset, max_bytes: 262_144 });
    parts.push(Buffer.from(chunk.content, 'base64'));
    offset = chunk.next_offset;
  }
  t.ok(Buffer.concat(parts).equals(letter));
});

t.test(
  'a list with contents shows the beginnings of bodies, files, and whom an answer would reach',
  async t => {
    const message_id = await receive(
      mimeLetter({
        headers: {
          From: 'Ann <ann@client.example>',
          To: 'agent@example.org, bob@client.example',
          Subject: 'Plan',
        },
        text: LONG,
        files: [{ filename: 'a.bin', type: 'application/x-a', bytes }],
      }),
    );
    const { messages } = await client.call<{ messages: { id: string; text: string }[] }>('list_messages', {
      inbox_id,
      limit: 1,
      include_content: true,
    });
    t.match(messages, [{ id: message_id, body_truncated: true }]);
    const small = await receive(
      mimeLetter({
        headers: {
          From: 'Ann <ann@client.example>',
          To: 'agent@example.org, bob@client.example',
          Subject: 'Plan',
        },
        text: line.repeat(100),
        files: [{ filename: 'a.bin', type: 'application/x-a', bytes }],
      }),
    );
    const page = await client.call<{ messages: { text: string }[] }>('list_messages', {
      inbox_id,
      limit: 1,
      include_content: true,
    });
    t.match(page.messages, [
      {
        id: small,
        body_source: 'text',
        body_truncated: true,
        attachments: [{ size: bytes.length }],
        reply: { to: ['ann@client.example'], cc: ['bob@client.example'] },
      },
    ]);
    t.equal(page.messages[0]?.text.replace(/<\/?untrusted-\w+>/g, '').length, 2_000);
  },
);

t.test('files beyond 64 KiB in all are left out, with their ids: read_attachment fetches them', async t => {
  const attachments = [
    { filename: 'a.txt', type: 'text/plain', content: Buffer.from('small').toString('base64') },
    { filename: 'b.bin', type: 'application/x-b', content: bytes.toString('base64') },
  ];
  const to = [{ address: peer.address }];
  const draft = await client.call<{ id: string }>('create_draft', {
    inbox_id,
    to,
    subject: 'S',
    text: 'T',
    attachments,
  });
  const { message } = await client.call<{ message: { id: string } }>('send_message', {
    ...{ inbox_id, to, subject: 'S', text: 'T', attachments },
  });
  const shown = [
    (await client.call<{ content: Files }>('get_draft', { draft_id: draft.id })).content.attachments,
    (await client.call<{ submission: Files }>('get_sent_message', { message_id: message.id, format: 'full' }))
      .submission.attachments,
  ];
  for (const files of shown) {
    t.match(files, [{ id: '1', content: attachments[0]?.content }, { id: '2' }]);
    t.notOk('content' in files[1]!);
  }
  for (const message_id of [draft.id, message.id]) {
    const parts: Buffer[] = [];
    for (let offset: number | null = 0; offset !== null; ) {
      const chunk: Chunk = await client.call('read_attachment', { message_id, attachment_id: '2', offset });
      t.equal(chunk.total_bytes, bytes.length);
      parts.push(Buffer.from(chunk.content, 'base64'));
      offset = chunk.next_offset;
    }
    t.ok(Buffer.concat(parts).equals(bytes));
  }
});
