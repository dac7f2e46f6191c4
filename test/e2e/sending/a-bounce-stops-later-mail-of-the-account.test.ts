import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { RECORDED_REPORTS } from '../../support/letters/reports.js';
import { type Receipt, send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { deliver } from '../../support/smtp/deliver.js';

const GONE = 'gone@remote.example';

interface Listed {
  readonly suppressions: readonly { readonly address: string; readonly email: string }[];
}

t.test('a report that comes back by SMTP is mail, and keeps its account from writing there', async t => {
  const { box, smarthost } = await startSmarthostBox(t);
  const agent = await createAgent(box);
  const other = await createAgent(box, 'other');
  const statusOf = ({ message }: Receipt) => [message.status, message.error_code];
  const { message } = await send(agent, submission(GONE));
  const postfix = RECORDED_REPORTS[0]!;
  const messageId = message.provider_message_id!.slice(1, -1);
  const report = (recipient: string) =>
    postfix.write({ messageId, recipient, sender: agent.address }).replace(/\n/g, '\r\n');

  await agent.api.finished(await deliver(box, agent.address, report('bob@remote.example'), ''));
  t.same(statusOf(await send(agent, submission(GONE))), ['accepted', null], 'nobody of this message');
  await other.api.finished(await deliver(box, other.address, report(GONE), ''));
  t.same(statusOf(await send(agent, submission(GONE))), ['accepted', null], 'it came to another inbox');
  const id = await deliver(box, agent.address, report(GONE), '');
  t.match(await agent.api.finished(id), {
    processing_status: 'ready',
    envelope_from: '',
    content: { subject: 'Undelivered Mail Returned to Sender' },
  });
  const before = smarthost.submissions.length;
  t.same(statusOf(await send(agent, submission(GONE))), ['rejected', 'E_RECIPIENT_SUPPRESSED']);
  t.equal(smarthost.submissions.length, before);
  t.same(statusOf(await send(other, submission(GONE))), ['accepted', null]);

  const { suppressions } = await box.cliJson<Listed>('suppression', 'list');
  t.match(suppressions, [{ address: GONE, email: agent.email, source: 'report', reason: /^5\.1\.1: 550/ }]);
  await box.cliJson('suppression', 'remove', GONE, '--account', agent.email);
  t.same(statusOf(await send(agent, submission(GONE))), ['accepted', null]);
});
