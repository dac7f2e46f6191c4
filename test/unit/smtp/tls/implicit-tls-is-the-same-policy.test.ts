import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import t from 'tap';
import { smtpListenerDefaults } from '../../../../src/smtp/options.js';
import { SmtpListener } from '../../../../src/smtp/smtp-listener.js';
import { recordingLog } from '../../../support/redis/redis.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { RecordingInbound } from '../recording-inbound.js';
import { withListener } from '../with-listener.js';
import { certificate, renewedCertificate } from './test-certificate.js';

const from = 'a@b.example';
const to = ['agent@example.org'];

t.test('TLS comes first, then the greeting, then all as ever', async t => {
  const { implicitTlsPort, inbound } = await withListener(t, { tls: certificate, implicitTlsPort: 0 });
  const client = await SmtpClient.connect(implicitTlsPort);
  await client.handshake();
  await client.expect(220);
  t.notMatch((await client.command('EHLO client.example', 250)).text, /STARTTLS/);
  await client.command('STARTTLS', 503);
  t.equal((await client.sendMail(from, to, '..x\r\n')).code, 250);
  t.match(inbound.messages, [{ envelope: { clientAddress: '127.0.0.1' } }]);
  await client.command('MAIL FROM:<a@b.example> SIZE=99999999999', 552);
  await client.command('RCPT TO:<nobody@example.org>', 503);
  t.equal((await client.sendMail(from, to, 'bare\rcr\r\n')).code, 554);
  await client.closed();
});

t.test('both ports count against the same limits', async t => {
  const options = { tls: certificate, implicitTlsPort: 0, maxClientsPerAddress: 2 };
  const { port, implicitTlsPort, listener } = await withListener(t, options);
  await SmtpClient.ready(port);
  const second = await SmtpClient.connect(implicitTlsPort);
  await second.handshake();
  await second.expect(220);
  const third = net.connect(implicitTlsPort, '127.0.0.1');
  let said = '';
  third.on('data', bytes => {
    said += bytes.toString();
  });
  await once(third, 'close');
  t.equal(said, '', 'nothing in clear');
  await (await SmtpClient.connect(port)).expect(421);
  t.match(listener.stats(), { connections: 2, refusals: { too_many_from_address: 2 } });
});

t.test('a client whose handshake is not done has its place like any other', async t => {
  const { implicitTlsPort, listener } = await withListener(t, { tls: certificate, implicitTlsPort: 0 });
  net.connect(implicitTlsPort, '127.0.0.1').on('error', () => {});
  while (listener.stats().connections < 1) await new Promise(setImmediate);
  await listener.stop(0);
  t.equal(listener.stats().connections, 0);
});

t.test('it stops with the other port, after the message in hand', async t => {
  const { implicitTlsPort, listener, inbound } = await withListener(t, {
    tls: certificate,
    implicitTlsPort: 0,
  });
  const client = await SmtpClient.connect(implicitTlsPort);
  await client.handshake();
  await client.expect(220);
  await client.command('EHLO client.example', 250);
  await client.openData(from, to);
  const stopped = listener.stop(30_000);
  await client.write('x\r\n.\r\n');
  await client.expect(250);
  await client.expect(421);
  await stopped;
  t.equal(inbound.messages.length, 1);
  await t.rejects(SmtpClient.connect(implicitTlsPort), { code: 'ECONNREFUSED' });
});

t.test('it takes over renewed certificates', async t => {
  const { implicitTlsPort, listener } = await withListener(t, { tls: certificate, implicitTlsPort: 0 });
  listener.reloadTls(renewedCertificate);
  const socket = tls.connect({ port: implicitTlsPort, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  t.equal(socket.getPeerCertificate().subject.CN, 'renewed.example.org');
  socket.destroy();
});

t.test('without a certificate it cannot be had', async t => {
  const options = { ...smtpListenerDefaults, hostname: 'mx.example.org', host: '127.0.0.1', port: 0 };
  t.throws(
    () => new SmtpListener({ ...options, implicitTlsPort: 0 }, new RecordingInbound(), recordingLog()),
  );
});
