import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Upload } from '../../../src/contract/uploads.js';
import { createAgent, type TestAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { sha256 } from '../../support/letters/letters.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { postHelper } from '../../support/sending/correspondence.js';
import { firstReceived, postSend, type Receipt, send, submission } from '../../support/sending/sending.js';
import { deliver } from '../../support/smtp/deliver.js';

async function upload(agent: TestAgent, bytes: Uint8Array): Promise<Upload> {
  const headers = { 'content-type': 'application/octet-stream' };
  const answer = await agent.api.request('POST', '/v1/uploads', { headers, body: bytes });
  if (answer.status !== 201) throw new Error(`POST upload: ${answer.status} ${answer.bytes}`);
  return answer.json<Upload>();
}

/** Name, type and digest of the files of the newest message. */
async function filesGot(agent: TestAgent) {
  const id = await firstReceived(agent);
  const { attachments } = await agent.api.content(id);
  const files = [];
  for (const file of attachments) {
    files.push([file.filename, file.mime_type, sha256(await agent.api.attachment(id, file))]);
  }
  return files;
}

t.test('a file is uploaded once, or is there already, and arrives whole', async t => {
  const box = await startBox(t, { env: { POSTERN_LIMITS_SENDS: '1000' } });
  const ann = await createAgent(box, 'ann');
  const stranger = await createAgent(box, 'stranger');
  const picture = randomBytes(1_000_003);
  const { upload_id, size, sha256: digest } = await upload(ann, picture);
  t.equal(size, picture.length);
  t.equal(digest, picture.length > 0 && Buffer.from(sha256(picture), 'hex').toString('hex'));
  const file = { filename: 'chart.png', type: 'image/png', upload_id };

  for (const name of ['bob', 'cy']) {
    const reader = await createAgent(box, name);
    const receipt = await send(ann, submission(reader.address, { attachments: [file] }));
    t.equal(receipt.message.status, 'accepted');
    t.same(await filesGot(reader), [['chart.png', 'image/png', sha256(picture)]]);
  }

  const report = randomBytes(200_000);
  const letter = mimeLetter({
    text: 'See the report.',
    files: [{ filename: 'report.pdf', type: 'application/pdf', bytes: report }],
  });
  const id = await deliver(box, ann.address, letter);
  const [attachment] = (await ann.api.content(id)).attachments;
  const reference = { message_id: id, attachment_id: attachment?.id };
  const dee = await createAgent(box, 'dee');
  const body = submission(dee.address, { attachments: [reference, file], idempotency_key: 'k' });
  const first = await send(ann, body);
  const both = [
    ['report.pdf', 'application/pdf', sha256(report)],
    ['chart.png', 'image/png', sha256(picture)],
  ];
  t.same(await filesGot(dee), both);

  const eve = await createAgent(box, 'eve');
  const draft = await ann.api.post(`/v1/inboxes/${ann.inboxId}/drafts`, {
    to: [{ address: eve.address }],
    subject: 'Both',
    text: 'Hello',
    attachments: [reference, file],
  });
  t.equal(draft.status, 201);
  const draftId = draft.json<{ id: string }>().id;

  for (const attachments of [[file], [reference]]) {
    const theirs = await postSend(stranger, submission(dee.address, { attachments }));
    t.same([theirs.status, theirs.code], [404, 'not_found'], 'not for another account');
  }
  t.equal((await stranger.api.delete(`/v1/uploads/${upload_id}`)).status, 404);

  t.equal((await ann.api.delete(`/v1/uploads/${upload_id}`)).status, 202);
  t.equal((await ann.api.delete(`/v1/uploads/${upload_id}`)).status, 404);
  await ann.api.delete(`/v1/messages/${id}`);
  const again = await send(ann, body);
  t.match(again, { replayed: true, message: { id: first.message.id } }, 'a retry needs neither');
  t.equal((await postSend(ann, { ...body, idempotency_key: 'l' })).status, 404);
  const answer = await postHelper(ann, 'reply', {
    message_id: first.message.id,
    text: 'x',
    attachments: [file],
  });
  t.equal(answer.status, 404);

  const sent = await ann.api.post(`/v1/drafts/${draftId}/send`, {});
  t.equal(sent.json<Receipt>().message.status, 'accepted');
  t.same(await filesGot(eve), both, 'a draft has kept them');
  t.match(await box.cliJson('verify'), { sound: true, uploads: 0 });
});
