import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { openStore, readFacts } from '../../support/box/store-facts.js';
import {
  createDraft,
  editDraft,
  patchDraft,
  postDraft,
  postDraftSend,
  readDraft,
  sendDraft,
} from '../../support/sending/drafts.js';

t.test('a deleted inbox takes its drafts along, and their bytes are freed', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const other = { ...agent, inboxId: (await createInbox(agent, 'other')).id };
  const chunks = async () => {
    const store = openStore(box);
    try {
      return readFacts(store).chunks;
    } finally {
      await store.close();
    }
  };
  const file = { filename: 'a.bin', type: 'a/b', content: Buffer.alloc(300_000, 1).toString('base64') };
  const whole = {
    to: [{ address: agent.address }],
    subject: 'Notes',
    text: 'x'.repeat(100_000),
    attachments: [file],
  };
  const kept = await createDraft(other, whole);
  const before = await chunks();
  const keyed = { ...whole, idempotency_key: 'a-draft' };
  const open = await createDraft(agent, keyed);
  const submitted = await createDraft(agent, { ...whole, to: [{ address: 'nobody@far.example' }] });
  await sendDraft(agent, submitted.id, { idempotency_key: 'a-send' });
  for (let n = 0; n < 20; n++) await createDraft(agent, whole);
  t.ok((await chunks()) > before + 20 * 7);

  t.equal((await agent.api.delete(`/v1/inboxes/${agent.inboxId}`)).status, 202);
  for (const { id } of [open, submitted]) {
    t.equal((await agent.api.get(`/v1/drafts/${id}`)).code, 'not_found');
    t.equal((await patchDraft(agent, id, { text: 'x' })).code, 'not_found');
    t.equal((await postDraftSend(agent, id)).code, 'not_found');
    t.equal((await postDraftSend(agent, id, { idempotency_key: 'a-send' })).code, 'not_found');
    t.equal((await agent.api.delete(`/v1/drafts/${id}`)).code, 'not_found');
  }
  t.equal((await agent.api.get(`/v1/inboxes/${agent.inboxId}/drafts`)).code, 'not_found');
  t.equal((await postDraft(agent, keyed)).code, 'not_found', 'a key brings nothing back');
  t.equal((await postDraft(other, keyed)).code, 'idempotency_conflict', 'and stays what it was');
  while ((await chunks()) > before) await new Promise(resolve => setTimeout(resolve, 50));
  t.equal(await chunks(), before);
  t.equal((await readDraft(other, kept.id)).content.text, whole.text, 'the neighbour is untouched');
  t.match(await box.cliJson('verify'), { sound: true });

  await editDraft(other, kept.id, { text: '', attachments: [] });
  t.match(await box.cliJson('verify'), { sound: true }, 'sound while what was replaced is kept');
  await agent.api.delete(`/v1/drafts/${kept.id}`);
  await box.restart();
  t.match(await box.cliJson('verify'), { sound: true });
});
