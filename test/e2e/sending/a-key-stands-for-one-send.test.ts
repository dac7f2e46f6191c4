import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { postSend, type Receipt, send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';

t.test('a key stands for one attempt, whatever is repeated', async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_LIMITS_SENDS: '1000' });
  const agent = await createAgent(box);
  const other = await createAgent(box, 'other');
  const far = 'ann@remote.example';

  await t.test('the first is 201, a match is 200 with the same message, as it is now', async t => {
    const body = submission(far, { idempotency_key: 'one', labels: ['a'] });
    const first = await postSend(agent, body);
    t.equal(first.status, 201);
    const receipt = first.json<Receipt>();
    t.equal(receipt.replayed, false);
    const expires = Date.parse(receipt.message.created_at) + 24 * 60 * 60 * 1000;
    t.equal(Date.parse(receipt.idempotency_expires_at ?? ''), expires);
    await agent.api.patch(`/v1/sent/${receipt.message.id}`, { add_labels: ['later'], remove_labels: ['a'] });
    await agent.api.patch(`/v1/inboxes/${agent.inboxId}`, { sender_name: 'Another Name' });
    const second = await postSend(agent, {
      labels: [' a ', 'a'],
      attachments: null,
      bcc: [],
      idempotency_key: 'one',
      text: 'Hello',
      subject: 'Notes',
      to: [{ name: ' ', address: far }],
    });
    t.equal(second.status, 200);
    t.equal(second.headers.location, `/v1/sent/${receipt.message.id}`);
    t.match(second.json<Receipt>(), {
      replayed: true,
      idempotency_expires_at: receipt.idempotency_expires_at,
      message: { id: receipt.message.id, status: 'accepted', labels: ['later'] },
    });
    t.equal(smarthost.submissions.length, 1);
  });

  await t.test('other input is a conflict, in whatever it differs', async t => {
    for (const change of [
      { to: [{ address: 'Ann@remote.example' }] },
      { to: [{ address: far, name: 'Ann' }] },
      { subject: 'notes' },
      { text: 'Hello ' },
      { html: '<p>Hello</p>' },
      { cc: [{ address: far }] },
      { attachments: [{ filename: 'a', type: 'a/b', content: '' }] },
      { labels: ['b'] },
    ]) {
      const answer = await postSend(
        agent,
        submission(far, { idempotency_key: 'one', labels: ['a'], ...change }),
      );
      t.equal(answer.code, 'idempotency_conflict', JSON.stringify(change));
      t.equal(answer.status, 409);
    }
    const second = await createInbox(agent, 'second');
    const elsewhere = submission(far, { idempotency_key: 'one', labels: ['a'] });
    t.equal((await postSend({ ...agent, inboxId: second.id }, elsewhere)).code, 'idempotency_conflict');
    t.match(await send(other, elsewhere), { replayed: false }, 'keys of another account are others');
    t.equal(smarthost.submissions.length, 2);
  });

  await t.test('forty requests at once make one attempt', async t => {
    const before = smarthost.submissions.length;
    const body = submission(far, { idempotency_key: 'forty' });
    const answers = await Promise.all(Array.from({ length: 40 }, () => postSend(agent, body)));
    t.equal(answers.filter(({ status }) => status === 201).length, 1);
    t.equal(answers.filter(({ status }) => status === 200).length, 39);
    t.equal(new Set(answers.map(answer => answer.json<Receipt>().message.id)).size, 1);
    t.equal(smarthost.submissions.length, before + 1);
  });

  await t.test('a deleted copy does not free its key, a restored one gives its result', async t => {
    const body = submission(far, { idempotency_key: 'gone' });
    const { message } = await send(agent, body);
    const before = smarthost.submissions.length;
    await agent.api.post(`/v1/sent/${message.id}/trash`);
    t.equal((await postSend(agent, body)).code, 'idempotency_result_unavailable');
    await agent.api.post(`/v1/sent/${message.id}/restore`);
    t.match(await send(agent, body), { replayed: true, message: { id: message.id } });
    await agent.api.delete(`/v1/sent/${message.id}`);
    t.equal((await postSend(agent, body)).code, 'idempotency_result_unavailable');
    t.equal((await postSend(agent, { ...body, text: 'Other' })).code, 'idempotency_conflict');
    t.equal(smarthost.submissions.length, before);
  });

  await t.test('without a key every request is a send of its own', async t => {
    const [one, two] = [await send(agent, submission(far)), await send(agent, submission(far))];
    t.not(one.message.id, two.message.id);
    t.notOk('replayed' in one || 'idempotency_expires_at' in one);
  });
});
