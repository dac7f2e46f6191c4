import type { Test } from 'tap';
import t from 'tap';
import type { Delivery } from '../../../src/contract/deliveries.js';
import { createAgent, type TestAgent } from '../../support/box/agents.js';
import { type PosternBox, startBox } from '../../support/box/postern-box.js';
import { deliveriesWhen } from '../../support/delivery/direct-box.js';
import { feedbackReport, RECORDED_REPORTS } from '../../support/letters/reports.js';
import { send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { say } from '../../support/smarthost/smarthost-script.js';
import { deliver } from '../../support/smtp/deliver.js';

const GONE = 'gone@far.example';
const OTHER = 'other@far.example';

interface Shown {
  readonly deliveries: readonly Delivery[];
}

const seen = (agent: TestAgent, id: string) => deliveriesWhen(agent, id, () => true);

async function isSound(t: Test, box: PosternBox): Promise<void> {
  await box.stop();
  t.match(await box.cliJson('verify'), { sound: true }, 'the store is sound');
}

t.test('what a system behind a smarthost reports by SMTP is seen in the deliveries', async t => {
  const { box, smarthost } = await startSmarthostBox(t);
  const agent = await createAgent(box, 'ann');
  const sibling = await createAgent(box, 'bob');
  const to = [{ address: GONE }, { address: OTHER }, { address: sibling.address }];
  const { message } = await send(agent, { to, subject: 'Notes', text: 'Hello' });
  const delivered = to.map(({ address: recipient }) => ({ recipient, state: 'delivered', code: null }));
  t.match(await seen(agent, message.id), delivered, 'those of this service too');

  const messageId =
    smarthost.submissions[0]!.content.toString('latin1').match(/^Message-ID: <(.*)>\r$/im)![1]!;
  const report = (recipient: string) =>
    RECORDED_REPORTS[0]!.write({ messageId, recipient, sender: agent.address }).replace(/\n/g, '\r\n');
  await sibling.api.finished(await deliver(box, sibling.address, report(GONE), ''));
  await agent.api.finished(await deliver(box, agent.address, report('nobody@far.example'), ''));
  t.match(await seen(agent, message.id), delivered, 'another inbox, another recipient: nothing');
  await agent.api.finished(await deliver(box, agent.address, report('GONE@Far.example'), ''));
  const after = await seen(agent, message.id);
  t.equal(after.length, 3);
  t.match(after, [
    { recipient: GONE, state: 'failed', code: '5.1.1', reply: /^550 5\.1\.1/ },
    { recipient: OTHER, state: 'delivered' },
    { recipient: sibling.address, state: 'delivered' },
  ]);
  t.equal((await sibling.api.get(`/v1/sent/${message.id}/deliveries`)).status, 404);

  t.strictSame((await box.cliJson<Shown>('sent', 'show', message.id)).deliveries, after);
  t.match((await box.cli('sent', 'show', message.id)).stdout, /^gone@far\.example +failed .*5\.1\.1$/m);
  const { stdout } = await box.cli('queue', 'show', message.id);
  t.match(stdout, /^advice +A report that came in says that there is no such address\..*suppression remove/m);
  t.match(stdout, /^advice +The relay has it/m);
  t.match(await box.cli('queue', 'cancel', message.id), { code: 4, stderr: /a relay has taken/ });
  t.match(await box.cli('queue', 'retry', message.id), { code: 1, stderr: /never sent again/ });

  smarthost.script = { rcpt: ({ recipient }) => (recipient === 2 ? say('550 5.1.1 No such user') : null) };
  const both = [{ address: OTHER }, { address: 'none@far.example' }, { address: sibling.address }];
  const refused = await send(agent, { to: both, subject: 'Notes', text: 'Hello' });
  t.match(
    await seen(agent, refused.message.id),
    both.map(() => ({ state: 'failed', reply: 'E_RECIPIENT_REJECTED' })),
    'one refused recipient keeps it from all',
  );
  t.equal((await agent.api.delete(`/v1/sent/${message.id}`)).status < 300, true);
  await isSound(t, box);
});

t.test('with the transport local, what inboxes of the service got is seen in the same way', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box, 'ann');
  const sibling = await createAgent(box, 'bob');
  const { message } = await send(agent, submission(sibling.address));
  t.match(await seen(agent, message.id), [{ recipient: sibling.address, state: 'delivered', attempts: 1 }]);
  const outside = await send(agent, submission(GONE));
  t.match(await seen(agent, outside.message.id), [{ recipient: GONE, state: 'failed', reply: /^E_RELAY/ }]);

  const complaint = feedbackReport({
    messageId: message.provider_message_id!.slice(1, -1),
    recipient: sibling.address,
    sender: agent.address,
  });
  await agent.api.finished(await deliver(box, agent.address, complaint.replace(/\n/g, '\r\n'), ''));
  t.match(await seen(agent, message.id), [{ state: 'delivered', reply: /abuse/ }]);
  t.match((await box.cliJson<Shown>('sent', 'show', message.id)).deliveries, [{ reply: /abuse/ }]);
  await isSound(t, box);
});
