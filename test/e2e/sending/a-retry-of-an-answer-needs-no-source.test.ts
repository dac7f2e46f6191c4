import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { answer, type Helper, postHelper } from '../../support/sending/correspondence.js';
import { createDraft, postDraftSend } from '../../support/sending/drafts.js';
import { postSend, quota, type Receipt, send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { deliver } from '../../support/smtp/deliver.js';

const HELPERS: readonly Helper[] = ['reply', 'reply-all', 'forward'];
const FAR = [{ address: 'far@far.example' }];

function body(helper: Helper, message_id: string, fields: object = {}): object {
  return { message_id, ...(helper === 'forward' ? { to: FAR } : { text: 'Yes' }), ...fields };
}

t.test('a key of a reply or forward stands for one attempt, whatever becomes of its source', async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_LIMITS_SENDS: '1000' });
  const agent = await createAgent(box);
  const receive = async () => {
    const file = { filename: 'a.bin', type: 'application/octet-stream', bytes: Buffer.alloc(200_000, 7) };
    const letter = mimeLetter({ headers: { From: 'far@far.example' }, text: 'Hello', files: [file] });
    const id = await deliver(box, agent.address, letter);
    await agent.api.finished(id);
    return id;
  };

  for (const helper of HELPERS) {
    await t.test(`${helper}: the attempt is recovered before its source is looked at`, async t => {
      const received = await receive();
      const { message: own } = await send(agent, submission('far@far.example'));
      const sources = [
        [received, `/v1/messages/${received}`],
        [own.id, `/v1/sent/${own.id}`],
      ] as const;
      for (const [source, path] of sources) {
        const keyed = body(helper, source, { idempotency_key: `${helper}-${source}`, labels: ['a'] });
        const first = await postHelper(agent, helper, keyed);
        t.equal(first.status, 201);
        const receipt = first.json<Receipt>();
        t.equal(receipt.replayed, false);
        const expires = Date.parse(receipt.message.created_at) + 24 * 60 * 60 * 1000;
        t.equal(Date.parse(receipt.idempotency_expires_at ?? ''), expires);
        const seen = smarthost.submissions.length;
        const used = (await quota(agent.api)).used;
        await agent.api.patch(`/v1/inboxes/${agent.inboxId}`, { sender_name: `Name ${seen}` });
        await agent.api.patch(`/v1/sent/${receipt.message.id}`, { add_labels: ['b'], remove_labels: ['a'] });
        await box.cliJson('policy', 'sending', 'set', agent.address, '--enable', '--domain', 'no.example');
        const again = async (what: string) => {
          const got = await postHelper(agent, helper, { ...keyed, labels: [' a ', 'a'] });
          t.equal(got.status, 200, what);
          t.equal(got.headers.location, `/v1/sent/${receipt.message.id}`);
          t.match(got.json<Receipt>(), {
            replayed: true,
            idempotency_expires_at: receipt.idempotency_expires_at,
            message: { id: receipt.message.id, status: 'accepted', labels: ['b'] },
          });
        };
        await again('rules forbid it by now');
        await agent.api.post(`${path}/trash`);
        await again('its source is in Trash');
        await agent.api.delete(path);
        await again('its source is deleted');
        await box.cliJson('policy', 'sending', 'disable', agent.address);
        t.equal((await postHelper(agent, helper, body(helper, source))).code, 'not_found', 'a new attempt');
        t.equal(smarthost.submissions.length, seen, 'nothing went out');
        t.equal((await quota(agent.api)).used, used, 'nothing was charged');

        await agent.api.post(`/v1/sent/${receipt.message.id}/trash`);
        t.equal((await postHelper(agent, helper, keyed)).code, 'idempotency_result_unavailable');
        await agent.api.post(`/v1/sent/${receipt.message.id}/restore`);
        await again('its copy was restored');
        await agent.api.delete(`/v1/sent/${receipt.message.id}`);
        t.equal((await postHelper(agent, helper, keyed)).code, 'idempotency_result_unavailable');
        const changed = { ...keyed, labels: ['other'] };
        t.equal((await postHelper(agent, helper, changed)).code, 'idempotency_conflict');
      }
    });
  }

  await t.test('what is the same is the same, what differs is a conflict', async t => {
    const source = await receive();
    const other = await receive();
    await answer(agent, 'reply', body('reply', source, { idempotency_key: 'one' }));
    const reply = (fields: object) =>
      postHelper(agent, 'reply', body('reply', source, { idempotency_key: 'one', ...fields }));
    for (const same of [{ attachments: [] }, { attachments: null }, { labels: [] }]) {
      t.equal((await reply(same)).status, 200, JSON.stringify(same));
    }
    for (const change of [
      { message_id: other },
      { text: 'Yes ' },
      { html: '<p>Yes</p>' },
      { labels: ['a'] },
      { attachments: [{ filename: 'a', type: 'a/b', content: '' }] },
    ]) {
      t.equal((await reply(change)).code, 'idempotency_conflict', JSON.stringify(change));
    }
    await answer(agent, 'forward', body('forward', source, { idempotency_key: 'two' }));
    const forward = (fields: object) =>
      postHelper(agent, 'forward', body('forward', source, { idempotency_key: 'two', ...fields }));
    for (const same of [
      { include_attachments: true },
      { note: '' },
      { cc: [], bcc: [] },
      { to: [{ address: 'far@far.example', name: ' ' }] },
    ]) {
      t.equal((await forward(same)).status, 200, JSON.stringify(same));
    }
    for (const change of [
      { include_attachments: false },
      { note: 'See below' },
      { to: [{ address: 'Far@far.example' }] },
      { to: [{ address: 'far@far.example', name: 'Far' }] },
      { bcc: FAR },
      { message_id: other },
    ]) {
      t.equal((await forward(change)).code, 'idempotency_conflict', JSON.stringify(change));
    }
  });

  await t.test('one key serves one kind of sending', async t => {
    const source = await receive();
    const draft = await createDraft(agent, { to: FAR, subject: 'Re: A letter', text: 'Yes' });
    const kinds: readonly (readonly [
      string,
      (key: string) => Promise<{ status: number; code: string | undefined }>,
    ])[] = [
      ...HELPERS.map(
        helper =>
          [
            helper,
            (idempotency_key: string) => postHelper(agent, helper, body(helper, source, { idempotency_key })),
          ] as const,
      ),
      [
        'send',
        idempotency_key =>
          postSend(
            agent,
            submission('far@far.example', {
              subject: 'Re: A letter',
              text: 'Yes',
              in_reply_to: source,
              idempotency_key,
            }),
          ),
      ],
      ['draft', idempotency_key => postDraftSend(agent, draft.id, { idempotency_key })],
    ];
    for (const [first, begin] of kinds) {
      const key = `kind-${first}`;
      const began = await begin(key);
      t.ok(began.status === 201 || first === 'draft', `${first} ${began.status}`);
      const seen = smarthost.submissions.length;
      for (const [second, repeat] of kinds) {
        const got = await repeat(key);
        // The draft has its attempt by another key by then, or none: under this key it is not what is meant.
        if (first === second) t.equal(got.status, 200, `${first} again`);
        else t.equal(got.code, 'idempotency_conflict', `${second} under a key of ${first}`);
      }
      t.equal(smarthost.submissions.length, seen);
    }
  });

  await t.test('thirty at once make one attempt, also if the source goes meanwhile', async t => {
    for (const helper of HELPERS) {
      const source = await receive();
      const keyed = body(helper, source, { idempotency_key: `rush-${helper}` });
      const seen = smarthost.submissions.length;
      const requests = Array.from({ length: 30 }, () => postHelper(agent, helper, keyed));
      const first = await Promise.any(
        requests.map(async request => {
          const got = await request;
          if (got.status !== 201) throw new Error('a replay');
          return got;
        }),
      );
      await agent.api.delete(`/v1/messages/${source}`);
      const answers = await Promise.all([...requests, postHelper(agent, helper, keyed)]);
      t.same(
        [...new Set(answers.map(({ status }) => status))].sort(),
        [200, 201],
        `${helper}: ${answers.map(({ status }) => status)}`,
      );
      t.equal(answers.filter(({ status }) => status === 201).length, 1);
      t.equal(new Set(answers.map(got => got.json<Receipt>().message.id)).size, 1);
      t.equal(first.json<Receipt>().message.id, answers[0]?.json<Receipt>().message.id);
      t.equal(smarthost.submissions.length, seen + 1);
    }
  });

  await t.test('a restart forgets nothing of it', async t => {
    const source = await receive();
    const keyed = body('reply', source, { idempotency_key: 'restart' });
    const { message } = await answer(agent, 'reply', keyed);
    await box.restart();
    t.match(await answer(agent, 'reply', keyed), { replayed: true, message: { id: message.id } });
  });

  t.match(await box.cliJson('verify'), { sound: true });
});
