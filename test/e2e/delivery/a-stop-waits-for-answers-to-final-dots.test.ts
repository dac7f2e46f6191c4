import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { deliveriesWhen, endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { MailServers } from '../../support/delivery/mail-servers.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { send } from '../../support/sending/sending.js';
import { onceThat, say } from '../../support/smarthost/smarthost-script.js';

/** Longer than everything else in an orderly stop may take. */
const ANSWER_AFTER_MS = 12_000;

t.test('the answer to a final dot that has left is waited for, and no further dot leaves', async t => {
  const dns = await startDnsServer(t, {});
  const servers = await MailServers.start(t, dns);
  let letGo = (): void => {};
  const stopping = new Promise<void>(resolve => {
    letGo = resolve;
  });
  const slow = await servers.add({
    dot: onceThat(
      stopping.then(() => delay(ANSWER_AFTER_MS)),
      say('250 2.0.0 Taken at last'),
    ),
  });
  const behind = await servers.add({
    mail: onceThat(
      stopping.then(() => delay(500)),
      say('250 2.1.0 Ok'),
    ),
  });
  servers.serve('slow.example', slow);
  servers.serve('behind.example', behind);
  const box = await startDirectBox(t, { port: servers.port, dns });
  const agent = await createAgent(box);
  const to = ['one@slow.example', 'one@behind.example'].map(address => ({ address }));
  const { message } = await send(agent, { to, subject: 'Before the stop', text: 'Hello' });
  await deliveriesWhen(agent, message.id, all => all.some(({ state }) => state === 'sending'));
  while (behind.sessions.length === 0) await delay(20);
  const startedAt = Date.now();
  const stopped = box.stop();
  letGo();
  t.match(await stopped, { code: 0 });
  t.ok(Date.now() - startedAt >= ANSWER_AFTER_MS, 'it ends when the answer has come');
  t.equal(behind.submissions.length, 0);
  await box.start();
  const ended = await endedDeliveries(agent, message.id);
  t.match(Object.fromEntries(ended.map(one => [one.recipient, one])), {
    'one@slow.example': { state: 'delivered', reply: /Taken at last/ },
    'one@behind.example': { state: 'delivered' },
  });
  t.equal(slow.submissions.length, 1);
  t.equal(behind.submissions.length, 1, 'at the next start');
});
