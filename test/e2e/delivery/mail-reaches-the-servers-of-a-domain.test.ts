import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import type { Detail } from '../../support/box/api-client.js';
import { endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { firstReceived, send } from '../../support/sending/sending.js';
import { withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import { say } from '../../support/smarthost/smarthost-script.js';

t.test('each recipient by its own domain, signed, and a bad one is told of in the conversation', async t => {
  const server = await withFakeSmarthost(t, {
    rcpt: ({ line }) => (line.includes('bad@') ? say('550 5.1.1 Nobody') : null),
  });
  const dns = await startDnsServer(t, {
    'far.example': { MX: [[10, 'mx.far.example']] },
    'mx.far.example': { A: ['127.0.0.1'] },
    'null.example': { MX: [[0, '']] },
  });
  const box = await startDirectBox(t, { port: server.port, dns });
  const ann = await createAgent(box, 'ann');
  const bob = await createAgent(box, 'bob');
  const to = ['good@far.example', 'bad@far.example', 'x@null.example', bob.address].map(address => ({
    address,
  }));
  const { message } = await send(ann, { to, subject: 'Notes', text: 'Hello' });
  t.equal(message.status, 'accepted');
  const ended = await endedDeliveries(ann, message.id);
  t.match(Object.fromEntries(ended.map(one => [one.recipient, [one.state, one.code]])), {
    'good@far.example': ['delivered'],
    'bad@far.example': ['failed', '5.1.1'],
    'x@null.example': ['failed', '5.1.10'],
    [bob.address]: ['delivered'],
  });
  t.equal(server.submissions.length, 1);
  t.match(server.submissions[0]?.content.toString('latin1'), /^DKIM-Signature: /);
  const notice = await firstReceived(ann);
  const { content, thread_id } = (await ann.api.get(`/v1/messages/${notice}`)).json<Detail>();
  t.match(content?.subject, /^Not delivered/);
  t.match(content?.text, /bad@far\.example/);
  t.match(content?.text, /x@null\.example/, 'one notice for both domains');
  t.equal(thread_id, message.thread_id, 'in the conversation of the message');
});
