import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

t.test('nothing is written until the window opens, however much is sent', async t => {
  const { port, inbound } = await withListener(t);
  inbound.isSlow = true;
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', ['agent@example.org']);
  const written = inbound.waitFor('write');
  const block = Buffer.from(`${'x'.repeat(62)}\r\n`.repeat(1024));
  let sent = 0;
  for (; sent < 400; sent++) client.socket.write(block);
  await written;
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  const body = inbound.bodies[0]!;
  t.equal(body.writes, 1, 'one chunk, then silence');
  t.ok(client.socket.writableLength > 0, 'the client has to wait');

  inbound.isSlow = false;
  inbound.drain();
  await client.write('.\r\n');
  await client.expect(250);
  t.equal(body.bytes, sent * block.length);
});

t.test('a client whose window is full is not idle', async t => {
  const { port, inbound } = await withListener(t, { idleTimeoutMs: 150 });
  inbound.isSlow = true;
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', ['agent@example.org']);
  const written = inbound.waitFor('write');
  await client.write('x\r\n');
  await written;
  await new Promise(resolve => setTimeout(resolve, 500));
  t.notOk(client.isClosed);
  inbound.isSlow = false;
  await client.write('.\r\n');
  inbound.drain();
  await client.expect(250);
});
