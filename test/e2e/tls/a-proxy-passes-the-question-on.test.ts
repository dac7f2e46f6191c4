import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { ISSUED, overSmtp, withAuthority } from '../../support/acme/acme-box.js';
import { freePort } from '../../support/redis/own-redis.js';

t.test('a proxy that has the port passes the question on to the HTTP listener', async t => {
  const httpPort = await freePort();
  const { box, server } = await withAuthority(t, { proofPort: httpPort });
  Object.assign(box.env, {
    POSTERN_HTTP_TLS: 'off',
    POSTERN_HTTP_PORT: String(httpPort),
    POSTERN_TLS_ACME_PORT: '0',
  });
  const issued = box.hear(ISSUED);
  await box.start();
  await issued;
  t.equal(server.issued, 1);
  const answer = await fetch(
    `http://127.0.0.1:${httpPort}/.well-known/acme-challenge/abcdefghijklmnopqrstuvwx`,
  );
  t.equal(answer.status, 404);
  const smtp = await overSmtp(box.smtpPort);
  t.match((smtp.socket as TLSSocket).getPeerCertificate().issuer.CN, 'Test authority');
  await smtp.close();
});
