import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { deliveriesWhen, endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { MailServers } from '../../support/delivery/mail-servers.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { send } from '../../support/sending/sending.js';
import { drop, say } from '../../support/smarthost/smarthost-script.js';

t.test(
  'what waits when the transport is another one comes to its end, and new mail goes the new way',
  async t => {
    const dns = await startDnsServer(t, {});
    const servers = await MailServers.start(t, dns);
    const grey = await servers.add({ rcpt: say('451 4.7.1 Greylisted') });
    const cut = await servers.add({ dot: drop });
    servers.serve('grey.example', grey);
    servers.serve('cut.example', cut);
    const box = await startDirectBox(t, { port: servers.port, dns });
    const agent = await createAgent(box);
    const to = ['one@grey.example', 'one@cut.example'].map(address => ({ address }));
    const { message } = await send(agent, { to, subject: 'Before', text: 'Hello' });
    await deliveriesWhen(agent, message.id, all => all.every(({ attempts }) => attempts > 0));
    grey.script = {};
    cut.script = {};
    await box.stop();
    box.env.POSTERN_RELAY_TRANSPORT = 'local';
    t.match(await box.cli('queue', 'retry', message.id), { code: 0, stdout: /restart the daemon/ });
    t.equal((await box.cli('queue', 'retry', message.id, '--even-if-delivered')).code, 0);
    await box.start();
    t.match(await endedDeliveries(agent, message.id), [{ state: 'delivered' }, { state: 'delivered' }]);
    for (const { submissions } of [grey, cut]) {
      t.match(submissions.at(-1)?.content.toString('latin1'), /^DKIM-Signature: /);
    }
    const after = await send(agent, { to: to.slice(0, 1), subject: 'After', text: 'Hello' });
    t.match(after.message, { status: 'rejected', error_code: 'E_RELAY_UNREACHABLE' });
    t.equal(grey.submissions.length, 1);
    t.equal((await box.stop()).code, 0);
  },
);
