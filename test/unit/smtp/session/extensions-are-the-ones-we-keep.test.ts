import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

t.test('EHLO offers what is kept, HELO nothing', async t => {
  const { port } = await withListener(t, { maxMessageBytes: 12_345 });
  const client = await SmtpClient.connect(port);
  t.equal((await client.expect(220)).text, '220 mx.example.org ESMTP');
  const { lines } = await client.command('EHLO client.example', 250);
  t.same(lines, [
    '250-mx.example.org',
    '250-PIPELINING',
    '250-8BITMIME',
    '250-SMTPUTF8',
    '250-ENHANCEDSTATUSCODES',
    '250 SIZE 12345',
  ]);
  t.equal((await client.command('HELO client.example', 250)).text, '250 mx.example.org');
});

t.test('no credentials, no jokes, no other way to send', async t => {
  const { port } = await withListener(t);
  for (const command of [
    'AUTH PLAIN AGEAYg==',
    'AUTH',
    'WIZ x',
    'SHELL',
    'KILL',
    'DEBUG',
    'BDAT 10 LAST',
    'XCLIENT ADDR=192.0.2.1',
    'XFORWARD NAME=x',
    'LHLO x',
    'ETRN example.org',
    'TURN',
    'SEND FROM:<a@b.example>',
  ]) {
    const client = await SmtpClient.ready(port);
    await client.command(command, 500, 502, 503);
    client.destroy();
  }
  t.pass();
});

t.test('VRFY and EXPN know nobody', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.ready(port);
  for (const verb of ['VRFY', 'EXPN']) {
    const known = await client.command(`${verb} agent@example.org`);
    const unknown = await client.command(`${verb} nobody@example.org`);
    t.equal(known.text, unknown.text);
  }
  t.same(inbound.asked, []);
});

t.test('commands keep their order', async t => {
  const { port } = await withListener(t);
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  await client.command('MAIL FROM:<a@b.example>', 503);
  await client.command('HELO client.example', 250);
  await client.command('RCPT TO:<agent@example.org>', 503);
  await client.command('DATA', 503);
  await client.command('MAIL FROM:<a@b.example>', 250);
  await client.command('RCPT TO:<agent@example.org>', 250);
  await client.command('DATA now', 501);
  await client.command('DATA', 354);
});
