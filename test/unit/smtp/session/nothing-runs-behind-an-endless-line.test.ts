import t from 'tap';
import { MailStream } from '../../../../src/smtp/data-scanner.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { certificate } from '../tls/test-certificate.js';
import { withListener } from '../with-listener.js';

const behind = 'MAIL FROM:<a@b.example>\r\nRCPT TO:<agent@example.org>\r\nDATA\r\nx\r\n.\r\n';

t.test('what was buffered behind it is dropped, its own rest included', async t => {
  const stream = new MailStream({ maxCommandLength: 20 });
  const commands: string[] = [];
  stream.oncommand = (command, done) => {
    commands.push(command.toString());
    // While the first command is being served, what follows is buffered chunk by chunk.
    setImmediate(() => done?.());
  };
  const failed = new Promise(resolve => stream.once('error', resolve));
  for (const chunk of ['FOO\r\n', 'x'.repeat(15), 'x'.repeat(15), 'QUIT\r\n', 'NOOP\r\n']) {
    stream.write(chunk);
  }
  await failed;
  t.same(commands, ['FOO']);
});

t.test('over the wire: 500, closed, nothing accepted that nobody is told of', async t => {
  const { port, inbound, listener } = await withListener(t, { tls: certificate });
  for (let round = 0; round < 20; round++) {
    const client = await SmtpClient.ready(port);
    await client.startTls();
    await client.command('EHLO client.example', 250);
    // Every write becomes one TLS record, and every record one chunk.
    const pieces = ['FOO\r\n', 'x'.repeat(1500), 'x'.repeat(1500), '\r\n', ...behind.split(/(?<=\r\n)/)];
    for (const piece of pieces) client.socket.write(piece);
    await client.expect(500);
    t.equal((await client.expect(500)).text, '500 5.5.2 Line too long');
    await client.closed();
    t.equal(client.unread, 0);
  }
  t.same(inbound.asked, []);
  t.same(inbound.bodies, []);
  t.equal(listener.stats().refusals.bad_commands, 20);
});
