import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

const received = 'Received: from a.example by b.example; Fri, 27 Nov 2026 09:30:00 +0000\r\n';

t.test('a hundred Received lines are mail', async t => {
  const { port } = await withListener(t);
  const client = await SmtpClient.ready(port);
  t.equal(
    (await client.sendMail('a@b.example', ['agent@example.org'], `${received.repeat(100)}\r\n${received}`))
      .code,
    250,
  );
});

t.test('one more is a loop, and the session goes on', async t => {
  const { port, inbound, listener } = await withListener(t);
  const client = await SmtpClient.ready(port);
  const reply = await client.sendMail(
    'a@b.example',
    ['agent@example.org'],
    `${received.repeat(101)}\r\nBody\r\n`,
  );
  t.equal(reply.code, 554);
  t.equal(reply.enhanced, '5.4.6');
  await client.command('NOOP', 250);
  t.same(inbound.messages, []);
  t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
  t.match(listener.stats(), { refusedMessages: 1, refusals: { mail_loop: 1 } });
});
