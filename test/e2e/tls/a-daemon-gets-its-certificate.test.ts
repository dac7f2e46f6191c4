import type { TLSSocket } from 'node:tls';
import t from 'tap';
import {
  ask,
  HOST,
  ISSUED,
  overHttps,
  overSmtp,
  type Status,
  serialOf,
  withAuthority,
} from '../../support/acme/acme-box.js';

t.test('SMTP and HTTPS serve it, and the next one while old connections go on', async t => {
  const { box, server } = await withAuthority(t);
  const issued = box.hear(ISSUED);
  await box.start();
  await issued;
  const { root } = server.authority;

  const https = await overHttps(box.httpPort, root);
  t.ok(https.authorized);
  t.equal(await ask(https), 'HTTP/1.1 200');
  const smtp = await overSmtp(box.smtpPort);
  const first = serialOf(https);
  t.equal(serialOf(smtp.socket as TLSSocket), first);
  const { certificates } = await box.cliJson<Status>('tls', 'status');
  t.match(certificates, [{ state: 'valid', names: ['mx.example.org', HOST], days_left: 89, failures: 0 }]);
  t.match(await box.cliJson<Status>('status'), { certificates: [{ state: 'valid' }] });
  t.match((await box.cli('tls', 'issue')).stdout, /is good, and renewed from/);
  t.equal(server.issued, 1);

  // The daemon has the port, and answers for the command beside it.
  const renewed = await box.cli('tls', 'renew');
  t.equal(renewed.code, 0, renewed.stderr);
  t.match(renewed.stderr, /waiting until api\.example\.org is looked at/);
  const reloaded = box.hear(/^certificates and log level were read again$/);
  process.kill(box.pid, 'SIGHUP');
  await reloaded;
  const later = await overHttps(box.httpPort, root);
  t.not(serialOf(later), first);
  const laterSmtp = await overSmtp(box.smtpPort);
  t.equal(serialOf(laterSmtp.socket as TLSSocket), serialOf(later));
  t.equal(await ask(later), 'HTTP/1.1 200');
  t.equal(await ask(https), 'HTTP/1.1 200', 'the old connection goes on');
  await smtp.command('NOOP', 250);
  for (const client of [smtp, laterSmtp]) await client.close();
  for (const socket of [https, later]) socket.destroy();

  await box.restart();
  const again = await overHttps(box.httpPort, root);
  t.equal(await ask(again), 'HTTP/1.1 200');
  again.destroy();
  t.equal(server.issued, 2, 'a restart asks for none');
});
