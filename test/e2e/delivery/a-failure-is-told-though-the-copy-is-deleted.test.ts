import { EventEmitter, once } from 'node:events';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import type { Detail } from '../../support/box/api-client.js';
import { deliveriesWhen, startDirectBox } from '../../support/delivery/direct-box.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { firstReceived, send } from '../../support/sending/sending.js';
import { withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import { onceThat, say } from '../../support/smarthost/smarthost-script.js';

const SUBJECT = 'Grüße, "Ann"';

t.test(
  'deleting the sent copy cancels nothing, and what fails is told with the header of the message',
  async t => {
    const events = new EventEmitter();
    const asked = once(events, 'asked');
    const deleted = once(events, 'deleted');
    const server = await withFakeSmarthost(t, {
      rcpt: () => {
        events.emit('asked');
        return onceThat(deleted, say('550 5.1.1 Nobody'));
      },
    });
    const dns = await startDnsServer(t, {
      'far.example': { MX: [[10, 'mx.far.example']] },
      'mx.far.example': { A: ['127.0.0.1'] },
    });
    const box = await startDirectBox(t, { port: server.port, dns });
    const agent = await createAgent(box, 'ann');
    const to = [{ address: 'bad@far.example', name: 'Änn, B.' }];
    const { message } = await send(agent, { to, subject: SUBJECT, text: 'Hello' });
    await asked;
    await deliveriesWhen(agent, message.id, all => all.length === 1);
    t.equal((await agent.api.delete(`/v1/sent/${message.id}`)).status, 202);
    t.equal((await agent.api.get(`/v1/sent/${message.id}`)).status, 404);
    events.emit('deleted');
    const notice = await firstReceived(agent);
    const { content } = (await agent.api.get(`/v1/messages/${notice}`)).json<Detail>();
    t.equal(content?.subject, `Not delivered: ${SUBJECT}`);
    t.match(content?.text, message.id);
    const raw = (await agent.api.get(`/v1/messages/${notice}/raw`)).bytes.toString('latin1');
    t.match(raw, /^Final-Recipient: rfc822; bad@far\.example\r$/m);
    t.match(raw, new RegExp(`^Message-ID: <${message.id}@`, 'm'));
    t.match(raw, /^To: .*<bad@far\.example>\r$/m);
  },
);
