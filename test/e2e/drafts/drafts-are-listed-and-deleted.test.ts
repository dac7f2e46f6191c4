import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import {
  createDraft,
  editDraft,
  listDrafts,
  patchDraft,
  readDraft,
  sendDraft,
} from '../../support/sending/drafts.js';
import { quota } from '../../support/sending/sending.js';

const METADATA = ['created_at', 'id', 'inbox_id', 'sent_message_id', 'state', 'subject', 'updated_at'];
const NOWHERE = '0190b1f0-0000-7000-8000-000000000001';
const keys = (value: object) => Object.keys(value).sort();

t.test('drafts are listed by state, deleted for good, and cost nothing until they are sent', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const stranger = await createAgent(box, 'stranger');
  const to = [{ address: 'Ann@far.example', name: 'Ann Ünal' }];
  const file = { filename: 'ü.txt', type: 'text/plain', content: 'R3LDvMOfZQ==' };

  await t.test('lists show the newest first, by state, page by page', async t => {
    const own = { ...agent, inboxId: (await createInbox(agent, 'lists')).id };
    const ids: string[] = [];
    for (let n = 0; n < 25; n++) {
      ids.unshift(
        (await createDraft(own, { to: [{ address: agent.address }], subject: `${n}`, text: 'x' })).id,
      );
    }
    const submitted = [ids[3]!, ids[20]!];
    for (const id of submitted) await sendDraft(own, id);
    const walk = async (query: string, limit: number) => {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await listDrafts(
          own,
          `?limit=${limit}${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        seen.push(...page.drafts.map(({ id }) => id));
        for (const draft of page.drafts) t.same(keys(draft), METADATA);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return seen;
    };
    const editable = ids.filter(id => !submitted.includes(id));
    t.same(await walk('', 4), editable);
    t.same(await walk('&state=draft', 100), editable);
    t.same(await walk('&state=submitted', 1), submitted);
    t.same(await walk('&state=all', 7), ids);
    t.equal((await listDrafts(own)).drafts.length, 20, 'twenty unless another number is asked for');
    await editDraft(own, ids[24]!, { text: 'edited' });
    t.same(await walk('&state=all', 9), ids, 'an edit moves nothing');
    const first = await listDrafts(own, '?limit=2&state=all');
    await agent.api.delete(`/v1/drafts/${ids[1]}`);
    await agent.api.delete(`/v1/drafts/${ids[2]}`);
    await createDraft(own);
    const next = await listDrafts(own, `?limit=2&state=all&cursor=${first.next_cursor}`);
    t.same(
      next.drafts.map(({ id }) => id),
      [ids[3], ids[4]],
      'a live view that neither repeats nor skips',
    );
    const cursor = first.next_cursor;
    const path = `/v1/inboxes/${own.inboxId}/drafts`;
    for (const [query, code] of [
      ['limit=0', 'invalid_limit'],
      ['limit=101', 'invalid_limit'],
      ['limit=+5', 'invalid_limit'],
      ['limit=05', 'invalid_limit'],
      ['limit=2&limit=2', 'invalid_draft'],
      ['state=sent', 'invalid_draft'],
      ['state=', 'invalid_draft'],
      ['state=draft&state=draft', 'invalid_draft'],
      ['order=newest', 'invalid_draft'],
      ['labels_all=a', 'invalid_draft'],
      ['cursor=x', 'invalid_draft'],
      ['cursor=', 'invalid_draft'],
      [`cursor=${cursor}&cursor=${cursor}`, 'invalid_draft'],
      [`cursor=${cursor}`, 'invalid_draft'],
      [`state=submitted&cursor=${cursor}`, 'invalid_draft'],
    ] as const) {
      const got = await agent.api.get(`${path}?${query}`);
      t.same([got.status, got.code], [400, code], query);
    }
    const elsewhere = `/v1/inboxes/${agent.inboxId}/drafts?state=all&cursor=${cursor}`;
    t.equal((await agent.api.get(elsewhere)).code, 'invalid_draft', 'a cursor of another inbox');
    const sent = await agent.api.get(`/v1/inboxes/${own.inboxId}/sent?limit=1`);
    const foreign = sent.json<{ next_cursor: string }>().next_cursor;
    t.equal(
      (await agent.api.get(`${path}?cursor=${foreign}`)).code,
      'invalid_draft',
      'a cursor of sent mail',
    );
    t.equal((await stranger.api.get(path)).code, 'not_found');
  });

  await t.test('a deleted one is gone, and deleting needs its permission', async t => {
    const { id } = await createDraft(agent, { text: 'x'.repeat(200_000) });
    await box.cliJson('account', 'permissions', '--account', agent.email, '--no-delete');
    const refused = await agent.api.delete(`/v1/drafts/${id}`);
    t.same([refused.status, refused.code], [403, 'operation_not_allowed']);
    t.equal((await agent.api.delete(`/v1/drafts/${NOWHERE}`)).code, 'not_found', 'ownership comes first');
    await box.cliJson('account', 'permissions', '--account', agent.email, '--delete');
    t.equal((await stranger.api.delete(`/v1/drafts/${id}`)).code, 'not_found');
    const deleted = await agent.api.delete(`/v1/drafts/${id}`);
    t.equal(deleted.status, 202);
    t.same(keys(deleted.json()), ['id', 'message', 'status']);
    t.match(deleted.json(), { id, status: 'deletion_pending' });
    t.equal((await agent.api.get(`/v1/drafts/${id}`)).code, 'not_found');
    t.equal((await patchDraft(agent, id, { text: 'x' })).code, 'not_found');
    t.equal((await agent.api.post(`/v1/drafts/${id}/send`, {})).code, 'not_found');
    t.equal((await agent.api.delete(`/v1/drafts/${id}`)).code, 'not_found');
    const trash = await agent.api.get(`/v1/inboxes/${agent.inboxId}/trash`);
    t.same(trash.json<{ messages: [] }>().messages, [], 'never in Trash');
  });

  await t.test('writing needs neither the permission to send nor an allowance, and uses none', async t => {
    await box.cliJson('account', 'permissions', '--account', agent.email, '--no-send');
    await box.cliJson('allowance', 'set', '--account', agent.email, '--sends', '0');
    const before = await quota(agent.api);
    t.match(before, { allowance: 0, remaining: 0 });
    const { id } = await createDraft(agent, { to, subject: 'Notes', text: 'Hello' });
    await editDraft(agent, id, { text: 'Hello again' });
    t.match(await readDraft(agent, id), { content: { text: 'Hello again' } });
    t.ok((await listDrafts(agent)).drafts.some(draft => draft.id === id));
    t.equal((await agent.api.post(`/v1/drafts/${id}/send`, {})).code, 'operation_not_allowed');
    await box.cliJson('account', 'permissions', '--account', agent.email, '--send');
    const refused = await agent.api.post(`/v1/drafts/${id}/send`, {});
    t.equal(refused.status, 429);
    t.match(refused.json(), { reason: 'message_exceeds_allowance', quota: { allowance: 0 } });
    t.equal((await readDraft(agent, id)).state, 'draft');
    t.equal((await quota(agent.api)).used, before.used);
    await box.cliJson('allowance', 'set', '--account', agent.email, '--sends', '25');
  });

  await t.test('drafts are in no search, count, label list or conversation until they are sent', async t => {
    const own = { ...agent, inboxId: (await createInbox(agent, 'apart')).id };
    const { id } = await createDraft(own, {
      to: [{ address: agent.address }],
      subject: 'Apart',
      text: 'x',
      labels: ['only here'],
    });
    const seen = async () => {
      const base = `/v1/inboxes/${own.inboxId}`;
      const sent = (await agent.api.get(`${base}/sent?subject=apart`)).json<{ messages: [] }>().messages
        .length;
      const labels = (await agent.api.get(`${base}/labels`)).json<{ labels: { name: string }[] }>().labels;
      return [
        sent,
        (await agent.api.page(own.inboxId)).messages.length,
        labels.map(({ name }) => name).join(),
      ];
    };
    t.same(await seen(), [0, 0, '']);
    await sendDraft(own, id);
    t.same(await seen(), [1, 0, 'only here']);
  });

  await t.test('all of it is there after a restart', async t => {
    const { id } = await createDraft(agent, {
      to,
      text: 'x'.repeat(100_000),
      html: '<p>',
      attachments: [file],
    });
    const before = await readDraft(agent, id);
    await box.restart();
    t.same(await readDraft(agent, id), before);
  });

  t.match(await box.cliJson('verify'), { sound: true });
});
