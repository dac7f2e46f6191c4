import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { MOVABLE_CLOCK, moveClock } from '../../support/box/moved-clock.js';
import { deliveriesWhen, endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { send } from '../../support/sending/sending.js';
import { withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import { say } from '../../support/smarthost/smarthost-script.js';

t.test(
  'mail that waits for its next attempt does not wait for a clock that was set back by a day',
  async t => {
    let isGrey = true;
    const server = await withFakeSmarthost(t, { rcpt: () => (isGrey ? say('451 4.7.1 Greylisted') : null) });
    const dns = await startDnsServer(t, {
      'far.example': { MX: [[10, 'mx.far.example']] },
      'mx.far.example': { A: ['127.0.0.1'] },
    });
    const box = await startDirectBox(t, { port: server.port, dns, env: MOVABLE_CLOCK });
    const agent = await createAgent(box);
    const { message } = await send(agent, { to: [{ address: 'a@far.example' }], subject: 's', text: 'x' });
    await deliveriesWhen(agent, message.id, all => all.every(({ attempts }) => attempts === 1));
    isGrey = false;
    await box.stop();
    moveClock(box, -24 * 3_600_000);
    await box.start();
    t.match(await endedDeliveries(agent, message.id), [{ state: 'delivered', attempts: 2 }]);
    t.equal(server.submissions.length, 1);
  },
);
