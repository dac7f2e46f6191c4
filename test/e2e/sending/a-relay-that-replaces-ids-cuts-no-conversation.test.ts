import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { answer, submissionOf } from '../../support/sending/correspondence.js';
import { send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { say } from '../../support/smarthost/smarthost-script.js';
import { deliver } from '../../support/smtp/deliver.js';

t.test('answers find the conversation by the id that the relay gave, and by ours', async t => {
  let count = 0;
  const { box, smarthost } = await startSmarthostBox(
    t,
    { POSTERN_RELAY_SMARTHOST_KEEPS_MESSAGE_ID: 'false' },
    { dot: () => say(`250 2.0.0 Ok <given-${++count}@relay.example>`) },
  );
  const agent = await createAgent(box, 'agent');
  const wire = (): string => smarthost.submissions.at(-1)?.content.toString('latin1') ?? '';
  const answered = async (headers: Record<string, string>) => {
    const id = await deliver(box, agent.address, mimeLetter({ headers, text: 'Yes.' }));
    await agent.api.finished(id);
    return { id, thread: (await agent.api.detail(id)).thread_id };
  };

  const first = await send(agent, submission('ann@far.example'));
  const own = `<${first.message.id}@${agent.address.split('@')[1]}>`;
  t.equal(first.message.provider_message_id, '<given-1@relay.example>');
  t.match(wire(), new RegExp(`^Message-ID: ${own}\r\n`, 'm'));
  t.match(wire(), new RegExp(`^References: ${own}\r\n`, 'm'), 'which the answer repeats');
  t.notMatch(wire(), /^In-Reply-To:/m);
  t.equal((await submissionOf(agent, first.message.id)).headers, undefined, 'it answers nothing');

  const byGiven = await answered({ 'In-Reply-To': '<given-1@relay.example>' });
  const byOwn = await answered({
    'In-Reply-To': '<lost@relay.example>',
    References: `${own} <lost@relay.example>`,
  });
  t.ok(first.message.thread_id);
  t.same([byGiven.thread, byOwn.thread], [first.message.thread_id, first.message.thread_id]);

  const second = await answer(agent, 'reply', { message_id: first.message.id, text: 'And more.' });
  t.equal(second.message.thread_id, first.message.thread_id);
  t.match(wire(), /^In-Reply-To: <given-1@relay\.example>\r\n/m, 'as its recipients know it');
  t.match(wire().replace(/\r\n /g, ' '), new RegExp(`^References: ${own} <given-1@relay.example>\r\n`, 'm'));
  const bySecond = await answered({ 'In-Reply-To': '<given-2@relay.example>' });
  t.equal(bySecond.thread, first.message.thread_id);
  const stranger = await answered({ 'In-Reply-To': '<given-9@relay.example>' });
  t.not(stranger.thread, first.message.thread_id);
});

t.test('a relay that keeps ids gets no References with a first message', async t => {
  const { box, smarthost } = await startSmarthostBox(
    t,
    {},
    { dot: say('250 2.0.0 Ok <given@relay.example>') },
  );
  const agent = await createAgent(box, 'agent');
  const { message } = await send(agent, submission('ann@far.example'));
  t.match(message.provider_message_id, new RegExp(`^<${message.id}@`));
  t.notMatch(smarthost.submissions.at(-1)?.content.toString('latin1') ?? '', /^References:/m);
});
