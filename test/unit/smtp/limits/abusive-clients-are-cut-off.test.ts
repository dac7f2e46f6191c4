import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

t.test('too many unknown commands: 421', async t => {
  const { port, listener } = await withListener(t);
  const client = await SmtpClient.ready(port);
  for (;;) if ((await client.command('FOO bar', 500, 421)).code === 421) break;
  await client.closed();
  t.equal(listener.stats().refusals.bad_commands, 1);
});

t.test('too many refusals of any kind: 421', async t => {
  const { port } = await withListener(t, { maxErrors: 5, unknownRecipientDelayMs: 0 });
  const client = await SmtpClient.ready(port);
  await client.command('MAIL FROM:<a@b.example>', 250);
  for (let n = 1; n <= 5; n++) await client.command(`RCPT TO:<guess${n}@example.org>`, 550);
  t.equal((await client.expect(421)).enhanced, '4.7.0');
  await client.closed();
});

t.test('an accepted message starts the count anew', async t => {
  const { port } = await withListener(t, { maxErrors: 3 });
  const client = await SmtpClient.ready(port);
  for (let n = 0; n < 4; n++) {
    await client.command('RCPT TO:<agent@example.org>', 503);
    await client.command('DATA', 503);
    t.equal((await client.sendMail('a@b.example', ['agent@example.org'], 'x\r\n')).code, 250);
  }
});

t.test('a command line of 2,048 octets is read, a longer one is refused', async t => {
  const { port } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.command(`NOOP ${'x'.repeat(2043)}`, 250);
  t.equal((await client.command(`NOOP ${'x'.repeat(2044)}`, 500)).enhanced, '5.5.2');
  await client.closed();
  const endless = await SmtpClient.ready(port);
  await endless.write('x'.repeat(3000));
  await endless.expect(500);
  await endless.closed();
});

t.test('an HTTP request is cut off before its body', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.connect(port);
  await client.write(
    'POST / HTTP/1.1\r\nHost: x\r\n\r\nEHLO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<agent@example.org>\r\n',
  );
  await client.expect(220);
  await client.expect(421);
  await client.closed();
  t.equal(client.unread, 0);
  t.same(inbound.asked, []);
});

t.test('a client that never reads its replies does not fill our memory', async t => {
  const { port, listener } = await withListener(t, { idleTimeoutMs: 200 });
  const client = await SmtpClient.ready(port);
  client.socket.pause();
  const block = 'NOOP\r\n'.repeat(10_000);
  for (let n = 0; n < 200 && !client.isClosed; n++) client.socket.write(block);
  while (listener.stats().refusals.timeout === 0) await new Promise(resolve => setTimeout(resolve, 10));
  client.reset();
  t.pass('it was given up');
});
