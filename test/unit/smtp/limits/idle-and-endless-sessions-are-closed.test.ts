import t from 'tap';
import type { AcceptOutcome } from '../../../../src/usecases/ports.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

t.test('silence before a command: 421', async t => {
  const { port, listener } = await withListener(t, { idleTimeoutMs: 50 });
  const client = await SmtpClient.ready(port);
  t.equal((await client.expect(421)).enhanced, '4.4.2');
  await client.closed();
  t.equal(listener.stats().refusals.timeout, 1);
});

t.test('silence in DATA: 421, nothing stored', async t => {
  const { port, inbound, listener } = await withListener(t, { idleTimeoutMs: 50 });
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', ['agent@example.org']);
  await client.write('Subject: x\r\n\r\nand then');
  await client.expect(421);
  await client.closed();
  t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
  t.match(listener.stats(), { refusedMessages: 1, refusals: { timeout: 1 } });
});

t.test('a client that waits for its verdict is not idle', async t => {
  const { port, inbound } = await withListener(t, {
    idleTimeoutMs: 20,
    dataTimeoutMs: 20,
    sessionTimeoutMs: 20,
  });
  inbound.commitWith = () =>
    new Promise<AcceptOutcome>(resolve =>
      setTimeout(() => resolve({ status: 'accepted', messageIds: [] }), 120),
    );
  const client = await SmtpClient.ready(port);
  t.equal((await client.sendMail('a@b.example', ['agent@example.org'], 'x\r\n')).code, 250);
});

t.test('a trickle of bytes does not hold DATA open for ever', async t => {
  const { port, inbound } = await withListener(t, { dataTimeoutMs: 80 });
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', ['agent@example.org']);
  const trickle = setInterval(() => void client.write('x'), 5);
  t.teardown(() => clearInterval(trickle));
  t.equal((await client.expect(421)).enhanced, '4.4.2');
  await client.closed();
  t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
});

t.test('nor a trickle of commands a session', async t => {
  const { port } = await withListener(t, { sessionTimeoutMs: 80 });
  const client = await SmtpClient.ready(port);
  for (;;) if ((await client.command('NOOP', 250, 421)).code === 421) break;
  await client.closed();
  t.pass();
});
