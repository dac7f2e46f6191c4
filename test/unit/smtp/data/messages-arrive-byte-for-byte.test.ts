import t from 'tap';
import { SmtpClient, stuff } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

const raw = 'From: a@b.example\r\nSubject: dots\r\n\r\n.\r\n..\r\n.x\r\n\r\n \u00e9 8 bit\r\n';

t.test('content and envelope reach the house as they were sent', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  await client.command('EHLO Client.Example', 250);
  const reply = await client.sendMail(
    'Sender+X@xn--exmple-cua.EXAMPLE',
    ['Agent@Example.org', 'other@example.org'],
    raw,
    ' SIZE=100',
  );
  const message = inbound.messages[0]!;
  t.equal(reply.text, `250 2.0.0 OK ${message.id}`);
  t.equal(message.raw.toString(), raw);
  t.match(message.envelope, {
    from: 'Sender+X@xn--exmple-cua.EXAMPLE',
    recipients: [{ address: 'Agent@Example.org' }, { address: 'other@example.org' }],
    clientAddress: '127.0.0.1',
    helo: 'Client.Example',
  });
});

t.test('a small message is one write', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.sendMail('a@b.example', ['agent@example.org'], raw);
  t.equal(inbound.bodies[0]!.writes, 1);
});

t.test('cut at every byte it is the same message', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', ['agent@example.org']);
  for (const byte of stuff(raw)) await client.write(Uint8Array.of(byte));
  await client.expect(250);
  t.equal(inbound.messages[0]!.raw.toString(), raw);
});

t.test('five megabytes of dots are five megabytes of dots', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.ready(port);
  const dots = '.\r\n'.repeat(1_250_000);
  const reply = await client.sendMail('a@b.example', ['agent@example.org'], dots);
  t.equal(reply.code, 250);
  t.ok(inbound.messages[0]!.raw.equals(Buffer.from(dots)));
});

t.test('an empty message is a message', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.ready(port);
  t.equal((await client.sendMail('', ['agent@example.org'], '')).code, 250);
  t.equal(inbound.messages[0]!.raw.length, 0);
  t.equal(inbound.messages[0]!.envelope.from, '');
});

t.test('messages in one packet are answered in order, each with its own envelope', async t => {
  const { port, inbound } = await withListener(t);
  const client = await SmtpClient.ready(port);
  const one = (n: number) =>
    `MAIL FROM:<a${n}@b.example>\r\nRCPT TO:<agent@example.org>\r\nDATA\r\nSubject: ${n}\r\n\r\n${n}\r\n.\r\n`;
  await client.write(`${one(1)}${one(2)}RSET\r\n${one(3)}QUIT\r\n`);
  for (const code of [250, 250, 354, 250, 250, 250, 354, 250, 250, 250, 250, 354, 250, 221]) {
    await client.expect(code);
  }
  await client.closed();
  t.same(
    inbound.messages.map(message => [message.envelope.from, message.raw.toString().at(-3)]),
    [1, 2, 3].map(n => [`a${n}@b.example`, `${n}`]),
  );
});

t.test('a client that speaks before the greeting is served', async t => {
  const { port } = await withListener(t);
  const client = await SmtpClient.connect(port);
  await client.write('EHLO early.example\r\nNOOP\r\nQUIT\r\n');
  for (const code of [220, 250, 250, 221]) await client.expect(code);
});
