import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

t.test('neither bodies, headers nor addresses are logged', async t => {
  const { port, log, listener } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.sendMail(
    'secret-sender@b.example',
    ['agent@example.org'],
    'Subject: secret-subject\r\n\r\nsecret-body\r\n',
  );
  await client.command('MAIL FROM:<a@b.example>', 250);
  await client.command('RCPT TO:<secret-guess@example.org>', 550);
  await client.command('secret-command', 500);
  await client.close();
  await listener.stop(0);
  t.ok(log.length > 0);
  t.notMatch(JSON.stringify(log), /secret|agent@/);
  t.match(log, [
    {},
    {},
    { message: 'smtp refused', fields: { reason: 'unknown_recipient', client: '127.0.0.1' } },
  ]);
});
