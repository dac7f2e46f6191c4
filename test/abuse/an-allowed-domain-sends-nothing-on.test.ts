import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { writeLetter } from '../support/letters/letters.js';
import { postHelper } from '../support/sending/correspondence.js';
import { createDraft, postDraftSend } from '../support/sending/drafts.js';
import { postSend, send, submission } from '../support/sending/sending.js';
import { startSmarthostBox } from '../support/smarthost/smarthost-box.js';
import { deliver } from '../support/smtp/deliver.js';

/** The server of allowed.example might send each of these on to evil.example. */
const ROUTED = [
  'victim%evil.example@allowed.example',
  'evil.example!victim@allowed.example',
  'evil.example!victim%other.example@Allowed.Example',
];

t.test('under sending rules no address that names another host is sent to, in any way', async t => {
  const { box, smarthost } = await startSmarthostBox(t);
  const agent = await createAgent(box);
  const sources: string[] = [];
  for (const from of ROUTED) {
    const letter = writeLetter().raw.toString().replace('sender@client.example', from);
    const id = await deliver(box, agent.address, letter);
    await agent.api.finished(id);
    sources.push(id);
  }
  t.match(
    await send(agent, submission(ROUTED[0]!)),
    { message: { status: 'accepted' } },
    'without rules it is',
  );
  await box.cliJson('policy', 'sending', 'set', agent.address, '--enable', '--domain', 'allowed.example');
  const before = smarthost.submissions.length;
  for (const [n, address] of ROUTED.entries()) {
    const to = [{ address }];
    const also = [{ address: 'ok@allowed.example' }];
    const draft = await createDraft(agent, submission(address));
    const message_id = sources[n]!;
    for (const [way, answer] of [
      ['to', await postSend(agent, submission(address))],
      ['cc', await postSend(agent, submission('ok@allowed.example', { cc: to }))],
      ['bcc', await postSend(agent, submission('ok@allowed.example', { bcc: to }))],
      ['draft', await postDraftSend(agent, draft.id)],
      ['reply', await postHelper(agent, 'reply', { message_id, text: 'Hello' })],
      ['reply-all', await postHelper(agent, 'reply-all', { message_id, text: 'Hello' })],
      ['forward', await postHelper(agent, 'forward', { message_id, to: [...also, ...to] })],
    ] as const) {
      t.equal(`${answer.status} ${answer.code}`, '403 recipient_not_allowed', `${way} ${address}`);
    }
  }
  t.equal(smarthost.submissions.length, before, 'nothing has left');
  t.match(await send(agent, submission('ok@allowed.example')), { message: { status: 'accepted' } });
});
