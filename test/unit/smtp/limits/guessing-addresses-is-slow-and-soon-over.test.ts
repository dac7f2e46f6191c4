import t from 'tap';
import { clientNetworks } from '../../../../src/domain/addresses.js';
import { GuessBrake, Tarpit } from '../../../../src/smtp/recipient-guesses.js';
import { ListenerClock } from '../../../../src/smtp/session-timers.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

t.test('the eleventh unknown recipient of a session is the last', async t => {
  const { port, inbound, listener } = await withListener(t, { unknownRecipientDelayMs: 1 });
  const client = await SmtpClient.ready(port);
  await client.command('MAIL FROM:<a@b.example>', 250);
  for (let n = 1; n <= 10; n++) await client.command(`RCPT TO:<guess${n}@example.org>`, 550);
  await client.command('RCPT TO:<agent@example.org>', 250);
  t.equal((await client.command('RCPT TO:<guess11@example.org>', 421)).enhanced, '4.7.0');
  await client.closed();
  t.match(listener.stats().refusals, { unknown_recipient: 11, too_many_unknown: 1 });
  t.equal(inbound.asked.length, 12);
});

t.test('a message in between, RSET or EHLO buy no more guesses', async t => {
  const { port } = await withListener(t, { maxUnknownRecipients: 4, unknownRecipientDelayMs: 0 });
  const client = await SmtpClient.ready(port);
  for (const command of ['RSET', 'EHLO client.example', 'HELO client.example', 'NOOP']) {
    await client.command('MAIL FROM:<a@b.example>', 250);
    await client.command('RCPT TO:<guess@example.org>', 550);
    await client.command('RCPT TO:<agent@example.org>', 250);
    await client.command('DATA', 354);
    await client.command('.', 250);
    await client.command(command, 250);
  }
  await client.command('MAIL FROM:<a@b.example>', 250);
  await client.command('RCPT TO:<guess@example.org>', 421);
});

t.test('the first two are answered at once, the others late and in order', async t => {
  const options = { maxUnknownRecipients: 3, unknownRecipientDelayMs: 20 };
  const shared = { options, clock: new ListenerClock(), brake: new GuessBrake(20) };
  const tarpit = new Tarpit(shared, clientNetworks('192.0.2.1'));
  const answered: number[] = [];
  for (const n of [1, 2, 3]) t.ok(tarpit.allows(() => answered.push(n)));
  t.same(answered, [1, 2]);
  t.notOk(tarpit.allows(() => answered.push(4)));
  while (answered.length < 3) await new Promise(setImmediate);
  t.same(answered, [1, 2, 3]);

  const { port } = await withListener(t, { unknownRecipientDelayMs: 20 });
  const client = await SmtpClient.ready(port);
  await client.write(
    `MAIL FROM:<a@b.example>\r\n${'RCPT TO:<guess@example.org>\r\n'.repeat(4)}RCPT TO:<agent@example.org>\r\nNOOP\r\n`,
  );
  for (const code of [250, 550, 550, 550, 550, 250, 250]) await client.expect(code);
});

t.test('a client that leaves while it waits leaves no timer', async t => {
  const { port, listener } = await withListener(t, { unknownRecipientDelayMs: 3_600_000 });
  for (const leave of [(client: SmtpClient) => client.reset(), (client: SmtpClient) => client.destroy()]) {
    const client = await SmtpClient.ready(port);
    await client.write(`MAIL FROM:<a@b.example>\r\n${'RCPT TO:<guess@example.org>\r\n'.repeat(3)}`);
    for (const code of [250, 550, 550]) await client.expect(code);
    leave(client);
  }
  const told = await SmtpClient.ready(port);
  await told.write(`MAIL FROM:<a@b.example>\r\n${'RCPT TO:<guess@example.org>\r\n'.repeat(3)}`);
  for (const code of [250, 550, 550]) await told.expect(code);
  await listener.stop(10_000);
  await told.expect(421);
  t.equal(listener.stats().connections, 0);
  t.notOk(process.getActiveResourcesInfo().includes('Timeout'));
});
