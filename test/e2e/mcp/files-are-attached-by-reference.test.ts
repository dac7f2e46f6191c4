import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createAgent, type TestAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { sha256 } from '../../support/letters/letters.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { McpClient } from '../../support/mcp/mcp-client.js';
import { firstReceived, type Receipt } from '../../support/sending/sending.js';
import { deliver } from '../../support/smtp/deliver.js';

const box = await startBox(t);
const agent = await createAgent(box);
const client = new McpClient(box, agent.credential);
const { inboxId: inbox_id } = agent;

const picture = randomBytes(1_000_003);
const report = randomBytes(100_000);

interface Upload {
  readonly upload_id: string;
  readonly size: number;
  readonly sha256: string;
}

/** Digests of the files of the first message that came to a new agent. */
async function filesGot(reader: TestAgent): Promise<string[]> {
  const id = await firstReceived(reader);
  const { attachments } = await reader.api.content(id);
  const digests: string[] = [];
  for (const file of attachments) digests.push(sha256(await reader.api.attachment(id, file)));
  return digests;
}

t.test('a tool uploads a file, whatever its length', async t => {
  for (const size of [0, 1, 49_151, 49_152, 49_153, 5 * 2 ** 20]) {
    const bytes = randomBytes(size);
    const content = bytes.toString('base64');
    const { upload_id, ...stored } = await client.call<Upload>('create_upload', { content });
    t.match(stored, { size, sha256: sha256(bytes) });
    await client.call('delete_upload', { upload_id });
    t.match(await client.failure('delete_upload', { upload_id }), { code: 'not_found' });
  }
  const content = Buffer.alloc(5 * 2 ** 20 + 1).toString('base64');
  t.match(await client.failure('create_upload', { content }), { code: 'body_too_large' });
});

t.test('sends, answers and drafts take uploads, and files of messages', async t => {
  const { upload_id } = await client.call<Upload>('create_upload', { content: picture.toString('base64') });
  const message_id = await deliver(
    box,
    agent.address,
    mimeLetter({
      text: 'See the report.',
      files: [{ filename: 'report.pdf', type: 'application/pdf', bytes: report }],
    }),
  );
  const [attachment] = (await agent.api.content(message_id)).attachments;
  const attachments = [
    { filename: 'chart.png', type: 'image/png', upload_id },
    { message_id, attachment_id: attachment?.id },
  ];
  const both = [sha256(picture), sha256(report)];

  const bob = await createAgent(box, 'bob');
  const body = { inbox_id, to: [{ address: bob.address }], subject: 'Both', text: 'Here.', attachments };
  const sent = await client.call<Receipt>('send_message', body);
  t.same(await filesGot(bob), both);

  const theirs = new McpClient(box, bob.credential);
  const came = await firstReceived(bob);
  const { content } = await theirs.call<{ content: { attachments: { id: string }[] } }>('get_message', {
    message_id: came,
  });
  const { message: answer } = await theirs.call<Receipt>('reply_message', {
    ...{ inbox_id: bob.inboxId, message_id: came, text: 'And back.' },
    attachments: [{ message_id: came, attachment_id: content.attachments[0]?.id, filename: 'again.png' }],
  });
  t.equal(answer.status, 'accepted');

  const cy = await createAgent(box, 'cy');
  const draft = await client.call<{ id: string }>('create_draft', {
    ...{ inbox_id, to: [{ address: cy.address }], subject: 'Later', text: 'Here.' },
    attachments: [...attachments, { message_id: sent.message.id, attachment_id: '1' }],
  });
  await client.call('delete_upload', { upload_id });
  await client.call('send_draft', { draft_id: draft.id });
  t.same(await filesGot(cy), [...both, sha256(picture)]);

  t.match(await client.failure('send_message', body), { code: 'not_found', retryable: false }, 'no more');
  const foreign = { ...body, inbox_id: bob.inboxId, attachments: attachments.slice(1) };
  t.match(await theirs.failure('send_message', foreign), { code: 'not_found' }, 'not for another account');
});
