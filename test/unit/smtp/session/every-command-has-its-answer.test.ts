import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { RecordingInbound } from '../recording-inbound.js';
import { withListener } from '../with-listener.js';

const agent = 'agent@example.org';
const long = 'x'.repeat(250);

/** Lines of a session after EHLO, each with the reply that it must get. */
const dialogues: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'order of commands': [
    ['RCPT TO:<agent@example.org>', '503 5.5.1'],
    ['DATA', '503 5.5.1'],
    ['MAIL FROM:<a@b.example>', '250 2.1.0'],
    ['MAIL FROM:<c@b.example>', '503 5.5.1'],
    ['DATA', '503 5.5.1'],
    ['RCPT TO:<nobody@example.org>', '550 5.1.1'],
    ['DATA', '503 5.5.1'],
    ['RCPT TO:<agent@example.org>', '250 2.1.5'],
    ['DATA now', '501 5.5.4'],
    ['DATA', '354 '],
  ],
  'letter case and spaces': [
    ['mail from:<a@b.example>', '250 2.1.0'],
    ['rCpT  To: <AGENT@EXAMPLE.ORG> ', '250 2.1.5'],
    ['  NOOP', '5'],
    ['data ', '354 '],
  ],
  'parameters of MAIL': [
    ['MAIL FROM:<a@b.example> BODY=8BITMIME SMTPUTF8 SIZE=1000', '250 2.1.0'],
    ['RSET', '250 2.0.0'],
    ['MAIL FROM:<a@b.example> BODY=7BIT', '250 2.1.0'],
    ['RSET', '250 2.0.0'],
    ['MAIL FROM:<a@b.example> BODY=BINARYMIME', '501 5.5.4'],
    ['MAIL FROM:<a@b.example> SIZE=', '501 5.5.4'],
    ['MAIL FROM:<a@b.example> SIZE=12x', '501 5.5.4'],
    ['MAIL FROM:<a@b.example> SIZE=1e3', '501 5.5.4'],
    ['MAIL FROM:<a@b.example> SIZE=99999999999999999999', '552 5.3.4'],
    ['MAIL FROM:<a@b.example> FOO=BAR', '555 5.5.4'],
    ['MAIL FROM:<a@b.example> AUTH=<>', '555 5.5.4'],
    ['MAIL FROM:<a@b.example> RET=FULL', '555 5.5.4'],
    ['MAIL FROM:<> SIZE=10', '250 2.1.0'],
    ['RCPT TO:<agent@example.org> NOTIFY=NEVER', '555 5.5.4'],
    ['RCPT TO:<agent@example.org> ORCPT=rfc822;x', '555 5.5.4'],
  ],
  'paths of MAIL': [
    ['MAIL FROM:a@b.example', '501 5.1.7'],
    ['MAIL FROM:<a@b.example', '501 5.1.7'],
    ['MAIL FROM:<a@@b.example>', '501 5.1.7'],
    ['MAIL FROM:<a b@b.example>', '501 5.1.7'],
    ['MAIL FROM:<postmaster>', '501 5.1.7'],
    [`MAIL FROM:<${long}@b.example>`, '501 5.1.7'],
    ['MAIL FROM:<a\tb@b.example>', '501 5.1.7'],
    ['MAIL FROM:<a\0b@b.example>', '501 5.1.7'],
    ['MAIL', '501 5.1.7'],
    ['MAIL FROM:<"odd user"@b.example>', '250 2.1.0'],
    ['RSET', '250 2.0.0'],
    ['MAIL FROM:<a@[192.0.2.1]>', '250 2.1.0'],
    ['RSET', '250 2.0.0'],
    ['MAIL FROM:<@hop.example,@hop2.example:a@b.example>', '250 2.1.0'],
  ],
  'we are no relay, however it is written': [
    ['MAIL FROM:<a@b.example>', '250 2.1.0'],
    ['RCPT TO:<agent@example.net>', '550 5.1.1'],
    ['RCPT TO:<agent%example.net@example.org>', '550 5.1.1'],
    ['RCPT TO:<"agent@example.net"@example.org>', '550 5.1.1'],
    ['RCPT TO:<example.net!agent@example.org>', '550 5.1.1'],
    ['RCPT TO:<agent@example.org@example.net>', '501 5.1.3'],
    ['RCPT TO:<@example.org:agent@example.net>', '550 5.1.1'],
    ['RCPT TO:<agent@[127.0.0.1]>', '550 5.1.1'],
    ['RCPT TO:<agent@localhost>', '550 5.1.1'],
    ['RCPT TO:<agent>', '501 5.1.3'],
    ['RCPT TO:<>', '501 5.1.3'],
    ['RCPT TO:<agent@example.org.>', '501 5.1.3'],
    ['RCPT TO:</etc/passwd@example.net>', '550 5.1.1'],
    ['RCPT TO:<|cat@example.net>', '550 5.1.1'],
    ['DATA', '503 5.5.1'],
  ],
  'recipients that are ours': [
    ['MAIL FROM:<a@b.example>', '250 2.1.0'],
    ['RCPT TO:<@hop.example:agent@example.org>', '250 2.1.5'],
    ['RCPT TO:<"agent"@example.org>', '250 2.1.5'],
    ['RCPT TO:<"a\\gent"@example.org>', '250 2.1.5'],
    ['RCPT TO:<Postmaster>', '250 2.1.5'],
    ['RCPT TO:<agent@EXAMPLE.org>', '250 2.1.5'],
  ],
  'VRFY, EXPN, HELP, NOOP, RSET, QUIT': [
    ['VRFY agent', '252 '],
    ['VRFY', '501 '],
    ['EXPN staff', '5'],
    ['HELP', '214 '],
    ['HELP MAIL', '214 '],
    ['NOOP anything at all', '250 2.0.0'],
    ['RSET now', '250 2.0.0'],
    ['QUIT now', '221 2.0.0'],
  ],
  'what is not offered': [
    ['AUTH PLAIN AGEAYg==', '50'],
    ['AUTH LOGIN', '50'],
    ['BDAT 5 LAST', '50'],
    ['STARTTLS', '50'],
    ['LHLO x', '50'],
    ['TURN', '50'],
    ['', '500 '],
  ],
  'EHLO and HELO': [
    ['HELO', '501 '],
    ['EHLO', '501 '],
    ['EHLO two words', '501 '],
    [`EHLO ${'x'.repeat(400)}`, '501 '],
    ['EHLO a\0b', '501 '],
    ['EHLO [192.0.2.1]', '250 '],
    ['EHLO [IPv6:2001:db8::1]', '250 '],
    ['HELO localhost', '250 '],
    ['EHLO -garbage_!%$', '250 '],
    ['EHLO m\u00fcnchen.example', '250 '],
  ],
};

for (const [name, lines] of Object.entries(dialogues)) {
  t.test(name, async t => {
    const { port } = await withListener(
      t,
      { maxUnknownRecipients: 100, unknownRecipientDelayMs: 0 },
      new RecordingInbound([agent, 'postmaster']),
    );
    const client = await SmtpClient.ready(port);
    for (const [line, wanted] of lines) {
      await client.line(line);
      const reply = await client.reply();
      const last = reply?.lines.at(-1) ?? 'a closed connection';
      t.ok(last.startsWith(wanted), `${JSON.stringify(line.slice(0, 60))}: ${wanted} (${last})`);
    }
    client.destroy();
  });
}

t.test('whoever talks before the greeting is served as if it had been pipelined', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.connect(port);
  await client.write(
    'EHLO c.example\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<agent@example.org>\r\nDATA\r\nx\r\n.\r\nQUIT\r\n',
  );
  for (const code of [220, 250, 250, 250, 354, 250, 221]) await client.expect(code);
  await client.closed();
  t.equal(inbound.messages.length, 1);
});

t.test('what follows QUIT never runs', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.write('QUIT\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<agent@example.org>\r\n');
  await client.expect(221);
  await client.closed();
  t.equal(client.unread, 0);
  t.same(inbound.asked, []);
});

t.test('commands that end in LF alone are served, a CR within is no line end', async t => {
  const { port } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.write('NOOP\nNOOP\r\n');
  await client.expect(250);
  await client.expect(250);
  await client.write('MAIL FROM:<a@b.example>\rRCPT TO:<agent@example.org>\r\n');
  await client.expect(5);
  t.equal(client.unread, 0);
});
