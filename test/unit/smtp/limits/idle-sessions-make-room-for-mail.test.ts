import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

const LONG_MS = 3_600_000;

t.test('when all places are taken, the one longest without a message goes', async t => {
  const { port, listener, inbound } = await withListener(t, { maxClients: 3, keepPlaceMs: 0 });
  const first = await SmtpClient.ready(port);
  const second = await SmtpClient.ready(port);
  await SmtpClient.ready(port);
  await first.sendMail('a@b.example', ['agent@example.org'], 'x\r\n');
  const fourth = await SmtpClient.ready(port);
  t.equal((await second.expect(421)).enhanced, '4.3.2');
  await second.closed();
  await fourth.sendMail('a@b.example', ['agent@example.org'], 'x\r\n');
  await first.command('NOOP', 250);
  t.equal(inbound.messages.length, 2);
  t.match(listener.stats(), { connections: 3, refusals: { too_many_clients: 1 } });
});

t.test('NOOPs are no mail', async t => {
  const { port } = await withListener(t, { maxClients: 2, keepPlaceMs: 0 });
  const busy = await SmtpClient.ready(port);
  await SmtpClient.ready(port);
  for (let n = 0; n < 20; n++) await busy.command('NOOP', 250);
  await SmtpClient.ready(port);
  await busy.expect(421);
});

t.test('one that is sending, or has just come, keeps its place', async t => {
  const sending = await withListener(t, { maxClients: 1, keepPlaceMs: 0 });
  const sender = await SmtpClient.ready(sending.port);
  await sender.openData('a@b.example', ['agent@example.org']);
  await (await SmtpClient.connect(sending.port)).expect(421);
  await sender.command('.', 250);

  const fresh = await withListener(t, { maxClients: 1, keepPlaceMs: LONG_MS });
  const held = await SmtpClient.ready(fresh.port);
  await (await SmtpClient.connect(fresh.port)).expect(421);
  await held.command('NOOP', 250);
});

t.test('one address cannot push out the others', async t => {
  const { port } = await withListener(t, { maxClients: 2, maxClientsPerAddress: 1, keepPlaceMs: 0 });
  const other = await SmtpClient.connect(port, '127.0.0.1', { localAddress: '127.0.0.2' });
  await other.expect(220);
  const greedy = await SmtpClient.ready(port);
  t.equal((await (await SmtpClient.connect(port)).expect(421)).enhanced, '4.7.0');
  await greedy.command('NOOP', 250);
  await other.command('NOOP', 250);
});

t.test('one that does not read is no obstacle', async t => {
  const { port, listener } = await withListener(t, { maxClients: 1, keepPlaceMs: 0 });
  const deaf = await SmtpClient.ready(port);
  deaf.socket.pause();
  const block = 'NOOP\r\n'.repeat(10_000);
  for (let n = 0; n < 100; n++) deaf.socket.write(block);
  for (let turn = 0; turn < 300; turn++) await new Promise(setImmediate);
  const client = await SmtpClient.ready(port);
  await client.sendMail('a@b.example', ['agent@example.org'], 'x\r\n');
  while (listener.stats().connections > 1) await new Promise(setImmediate);
  deaf.reset();
  t.pass();
});
