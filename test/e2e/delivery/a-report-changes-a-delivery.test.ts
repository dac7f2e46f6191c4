import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { RECORDED_REPORTS } from '../../support/letters/reports.js';
import { send } from '../../support/sending/sending.js';
import { withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import { deliver } from '../../support/smtp/deliver.js';

t.test('what systems report by SMTP is seen in the deliveries, by who sent the message alone', async t => {
  const server = await withFakeSmarthost(t, {});
  const dns = await startDnsServer(t, {
    'far.example': { MX: [[10, 'mx.far.example']] },
    'mx.far.example': { A: ['127.0.0.1'] },
  });
  const box = await startDirectBox(t, { port: server.port, dns, env: { POSTERN_LIMITS_SENDS: '1000' } });
  const agent = await createAgent(box, 'ann');
  const other = await createAgent(box, 'bob');
  for (const [index, { name, write, kind, action }] of RECORDED_REPORTS.entries()) {
    const recipient = `n${index}@far.example`;
    const to = [{ address: recipient }, { address: `second${index}@far.example` }];
    const { message } = await send(agent, { to, subject: name, text: 'Hello' });
    t.match(await endedDeliveries(agent, message.id), [{ state: 'delivered' }, { state: 'delivered' }], name);
    const messageId = server.submissions
      .at(-1)!
      .content.toString('latin1')
      .match(/^Message-ID: <(.*)>\r$/im)![1]!;
    const report = write({ messageId, recipient, sender: agent.address }).replace(/\n/g, '\r\n');
    await other.api.finished(await deliver(box, other.address, report, ''));
    t.match(await endedDeliveries(agent, message.id), [{ state: 'delivered' }, { state: 'delivered' }], name);
    await agent.api.finished(await deliver(box, agent.address, report, ''));
    const [first, second] = await endedDeliveries(agent, message.id);
    const isComplaint = kind === 'abuse';
    t.equal(first?.state, action === 'failed' ? 'failed' : 'delivered', name);
    t.equal(/abuse/.test(first?.reply ?? ''), isComplaint, name);
    t.equal(second?.state, 'delivered', `${name}: nobody else`);
  }
});
