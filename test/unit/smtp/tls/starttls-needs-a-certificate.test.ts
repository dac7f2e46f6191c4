import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';
import { certificate, renewedCertificate } from './test-certificate.js';

t.test('without one it is neither offered nor understood', async t => {
  const { port } = await withListener(t);
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  t.notMatch((await client.command('EHLO client.example', 250)).text, /STARTTLS/);
  await client.command('STARTTLS', 500);
});

t.test('with one, a message comes in over TLS', async t => {
  const { port, inbound } = await withListener(t, { tls: certificate });
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  t.match((await client.command('EHLO client.example', 250)).text, /^250[- ]STARTTLS$/m);
  await client.command('MAIL FROM:<before@b.example>', 250);
  await client.startTls();
  await client.command('MAIL FROM:<a@b.example>', 503);
  await client.command('EHLO client.example', 250);
  await client.command('STARTTLS', 503);
  const raw = `Subject: x\r\n\r\n${'..dots\r\n'.repeat(20_000)}`;
  t.equal((await client.sendMail('a@b.example', ['agent@example.org'], raw)).code, 250);
  t.equal(inbound.messages[0]!.raw.toString(), raw);
});

t.test('what was sent in clear behind STARTTLS never runs', async t => {
  const { port } = await withListener(t, { tls: certificate });
  const client = await SmtpClient.ready(port);
  await client.write('STARTTLS\r\nMAIL FROM:<mallory@b.example>\r\n');
  await client.expect(220);
  await client.handshake();
  await client.command('EHLO client.example', 250);
  await client.command('RCPT TO:<agent@example.org>', 503);
  t.equal(client.unread, 0);
});

t.test('older protocols than TLS 1.2 are refused, and no failed handshake ends anything', async t => {
  const { port, listener } = await withListener(t, { tls: certificate });
  const old = await SmtpClient.ready(port);
  await t.rejects(
    old.startTls({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  );
  const garbage = await SmtpClient.ready(port);
  await garbage.command('STARTTLS', 220);
  await garbage.write('this is no handshake\r\n');
  await garbage.closed();
  const reset = await SmtpClient.ready(port);
  await reset.command('STARTTLS', 220);
  reset.reset();
  const half = await SmtpClient.ready(port);
  await half.command('STARTTLS', 220);
  await half.write(Buffer.from('160301020001', 'hex'));
  const alive = await SmtpClient.ready(port);
  await alive.command('NOOP', 250);
  await listener.stop(0);
  t.equal(listener.stats().connections, 0);
});

t.test('a new certificate serves new sessions', async t => {
  const { port, listener } = await withListener(t, { tls: certificate });
  const subject = async () => {
    const client = await SmtpClient.ready(port);
    await client.startTls();
    const name = (client.socket as TLSSocket).getPeerCertificate().subject.CN;
    client.destroy();
    if (!client.socket.closed) await once(client.socket, 'close');
    return name;
  };
  t.equal(await subject(), 'mx.example.org');
  listener.reloadTls(renewedCertificate);
  t.equal(await subject(), 'renewed.example.org');
});
