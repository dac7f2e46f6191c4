import t from 'tap';
import type { AcceptOutcome } from '../../../../src/usecases/ports.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

const GRACE_MS = 30_000;

t.test('an idle session gets 421, and no new one is let in', async t => {
  const { port, listener } = await withListener(t);
  const idle = await SmtpClient.ready(port);
  const inTransaction = await SmtpClient.ready(port);
  await inTransaction.command('MAIL FROM:<a@b.example>', 250);
  const stopped = listener.stop(GRACE_MS);
  for (const client of [idle, inTransaction]) {
    t.equal((await client.expect(421)).enhanced, '4.3.2');
    await client.closed();
  }
  await stopped;
  await t.rejects(SmtpClient.connect(port), { code: 'ECONNREFUSED' });
});

t.test('a message in DATA is taken to its end, then 421', async t => {
  const { port, inbound, listener } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', ['agent@example.org']);
  const written = inbound.waitFor('write');
  await client.write('Subject: x\r\n\r\n');
  await written;
  const stopped = listener.stop(GRACE_MS);
  await client.write('x\r\n.\r\nNOOP\r\n');
  await client.expect(250);
  await client.expect(421);
  await client.closed();
  t.equal(client.unread, 0);
  await stopped;
  t.equal(inbound.messages.length, 1);
});

t.test('a message that awaits its verdict gets it, then 421', async t => {
  const { port, inbound, listener } = await withListener(t);
  let resolve: (outcome: AcceptOutcome) => void = () => {};
  inbound.commitWith = () => new Promise(settle => (resolve = settle));
  const client = await SmtpClient.ready(port);
  const committing = inbound.waitFor('commit');
  const reply = client.sendMail('a@b.example', ['agent@example.org'], 'x\r\n');
  await committing;
  const stopped = listener.stop(GRACE_MS);
  resolve({ status: 'accepted', messageIds: [] });
  t.equal((await reply).code, 250);
  await client.expect(421);
  await stopped;
});

t.test('whoever is not done within the grace is cut off', async t => {
  const { port, inbound, listener } = await withListener(t);
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', ['agent@example.org']);
  await client.write('half a mess');
  await listener.stop(10);
  await client.expect(421);
  await client.closed();
  t.same(inbound.messages, []);
  t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
});

t.test('stopping twice is stopping once, and so is stopping what never ran', async t => {
  const { listener } = await withListener(t);
  t.equal(listener.stop(0), listener.stop(GRACE_MS));
  await listener.stop(0);
});
