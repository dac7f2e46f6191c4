import { once } from 'node:events';
import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

const line = `${'x'.repeat(62)}\r\n`;

t.test('SIZE over the limit is refused before a byte is sent (RFC 1870)', async t => {
  const { port, listener } = await withListener(t, { maxMessageBytes: 1000 });
  const client = await SmtpClient.ready(port);
  t.equal((await client.command('MAIL FROM:<a@b.example> SIZE=1001', 552)).enhanced, '5.3.4');
  await client.command('MAIL FROM:<a@b.example> SIZE=1000', 250);
  t.equal(listener.stats().refusals.too_large, 1);
});

t.test('the limit is the last size that is taken; stuffed dots do not count', async t => {
  const { port, inbound } = await withListener(t, { maxMessageBytes: 6 });
  const client = await SmtpClient.ready(port);
  t.equal((await client.sendMail('a@b.example', ['agent@example.org'], '....\r\n')).code, 250);
  t.equal((await client.sendMail('a@b.example', ['agent@example.org'], '.....\r\n')).code, 552);
  await client.closed();
  t.match(inbound.bodies, [
    { commits: 1, aborts: 0 },
    { commits: 0, aborts: 1 },
  ]);
});

t.test('a client that sends on finds the reply, and is not read to the end', async t => {
  const { port, inbound, listener } = await withListener(t, { maxMessageBytes: 100_000 });
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', ['agent@example.org']);
  const { socket } = client;
  const block = Buffer.from(line.repeat(1024));
  const reply = client.expect(552);
  for (let sent = 0; sent < 1000 && !client.isClosed && !socket.destroyed; sent++) {
    if (!socket.write(block)) {
      await Promise.race([once(socket, 'drain'), client.closed(), once(socket, 'close')]);
    }
  }
  t.equal((await reply).enhanced, '5.3.4');
  await client.closed();
  t.same(inbound.messages, []);
  t.match(listener.stats(), { refusedMessages: 1, refusals: { too_large: 1 } });
});
