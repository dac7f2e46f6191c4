import t from 'tap';
import type { AcceptOutcome } from '../../../../src/usecases/ports.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { certificate } from '../tls/test-certificate.js';
import { withListener } from '../with-listener.js';

/** What is still read after our FIN; `SmtpClient` itself takes the end for the end. */
async function endAndRead(client: SmtpClient, text: string): Promise<string> {
  const { socket } = client;
  socket.allowHalfOpen = true;
  let heard = '';
  socket.on('data', bytes => {
    heard += bytes.toString();
  });
  const ended = new Promise(resolve => socket.once('end', resolve));
  socket.end(text);
  await ended;
  return heard;
}

for (const isTls of [false, true]) {
  const over = isTls ? 'over TLS' : 'in clear';

  t.test(`${over}: FIN right behind the final dot, and the 250 comes`, async t => {
    const { port, inbound, listener } = await withListener(t, { tls: certificate });
    inbound.commitWith = () =>
      new Promise<AcceptOutcome>(resolve =>
        setTimeout(() => resolve({ status: 'accepted', messageIds: [] }), 50),
      );
    const client = await SmtpClient.ready(port);
    if (isTls) {
      await client.startTls();
      await client.command('EHLO client.example', 250);
    }
    await client.openData('a@b.example', ['agent@example.org']);
    t.match(await endAndRead(client, 'x\r\n.\r\n'), /^250 2\.0\.0 OK\r\n$/);
    await listener.stop(10_000);
    t.match(inbound.bodies, [{ commits: 1, aborts: 0 }]);
    t.match(listener.stats(), { connections: 0, acceptedMessages: 1 });
  });
}

t.test('a whole session in one go, and FIN', async t => {
  const { port, inbound, listener } = await withListener(t);
  const client = await SmtpClient.ready(port);
  const heard = await endAndRead(
    client,
    'MAIL FROM:<a@b.example>\r\nRCPT TO:<agent@example.org>\r\nDATA\r\nx\r\n.\r\nNOOP\r\nEHLO c.example\r\nMAIL FROM:<c@d.example>\r\nQUIT\r\n',
  );
  t.same(heard.match(/^\d{3} /gm), ['250 ', '250 ', '354 ', '250 ', '250 ', '250 ', '250 ', '221 ']);
  t.equal(inbound.messages.length, 1);
  await listener.stop(10_000);
});

t.test('FIN before the final dot: nothing is stored, nothing stays open', async t => {
  const { port, inbound, listener } = await withListener(t);
  for (const text of ['', 'x', 'x\r\n', 'x\r\n.', 'x\r\n.\r']) {
    const client = await SmtpClient.ready(port);
    await client.openData('a@b.example', ['agent@example.org']);
    t.equal(await endAndRead(client, text), '');
  }
  await listener.stop(10_000);
  t.same(inbound.messages, []);
  for (const body of inbound.bodies) t.match(body, { commits: 0, aborts: 1 });
});

t.test('half a command is no command', async t => {
  const { port, listener } = await withListener(t);
  const client = await SmtpClient.ready(port);
  t.equal(await endAndRead(client, 'MAIL FROM:<a@b.example>'), '');
  await listener.stop(10_000);
  t.equal(listener.stats().connections, 0);
});

t.test('FIN alone ends a session at once', async t => {
  const { port, listener } = await withListener(t);
  const client = await SmtpClient.connect(port);
  t.match(await endAndRead(client, ''), /^220 /);
  while (listener.stats().connections > 0) await new Promise(setImmediate);
  t.pass();
});
