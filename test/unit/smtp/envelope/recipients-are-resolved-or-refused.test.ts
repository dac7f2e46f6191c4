import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { RecordingInbound } from '../recording-inbound.js';
import { withListener } from '../with-listener.js';

t.test('the house is asked for the address, the envelope keeps what was written', async t => {
  const { port, inbound } = await withListener(
    t,
    {},
    new RecordingInbound(['agent@example.org', 'postmaster']),
  );
  const client = await SmtpClient.ready(port);
  await client.sendMail(
    '@r.example:Odd.@b.example',
    ['@a.example:Agent@EXAMPLE.org', '"agent"@example.org', 'Postmaster'],
    'x\r\n',
  );
  t.same(inbound.asked, ['Agent@EXAMPLE.org', 'agent@example.org', 'Postmaster']);
  const { envelope } = inbound.messages[0]!;
  t.equal(envelope.from, 'Odd.@b.example');
  t.same(
    envelope.recipients.map(recipient => recipient.address),
    ['Agent@EXAMPLE.org', '"agent"@example.org', 'Postmaster'],
  );
});

t.test('unknown: 550, and without a recipient no DATA', async t => {
  const { port, listener } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.command('MAIL FROM:<a@b.example>', 250);
  t.equal((await client.command('RCPT TO:<nobody@example.org>', 550)).enhanced, '5.1.1');
  await client.command('RCPT TO:<"agent@example.org"@elsewhere.example>', 550);
  await client.command('DATA', 503);
  t.equal(listener.stats().refusals.unknown_recipient, 2);
});

t.test('a store that cannot be read: 451, never acceptance', async t => {
  const { port, inbound } = await withListener(t);
  inbound.failResolving = true;
  const client = await SmtpClient.ready(port);
  await client.command('MAIL FROM:<a@b.example>', 250);
  t.equal((await client.command('RCPT TO:<agent@example.org>', 451)).enhanced, '4.3.0');
  await client.command('DATA', 503);
});

t.test('a hundred recipients are taken, the next is put off', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.command('MAIL FROM:<a@b.example>', 250);
  for (let n = 0; n < 100; n++) await client.command('RCPT TO:<agent@example.org>', 250);
  t.equal((await client.command('RCPT TO:<agent@example.org>', 452)).enhanced, '4.5.3');
  await client.command('DATA', 354);
  await client.command('.', 250);
  t.equal(inbound.messages[0]!.envelope.recipients.length, 100);
});

t.test('RSET, EHLO and HELO forget the transaction', async t => {
  const { port } = await withListener(t);
  const client = await SmtpClient.ready(port);
  for (const command of ['RSET', 'EHLO again.example', 'HELO again.example']) {
    await client.command('MAIL FROM:<a@b.example>', 250);
    await client.command('MAIL FROM:<a@b.example>', 503);
    await client.command('RCPT TO:<agent@example.org>', 250);
    await client.command(command, 250);
    await client.command('RCPT TO:<agent@example.org>', 503);
    await client.command('DATA', 503);
  }
});
