import { once } from 'node:events';
import { createServer } from 'node:net';
import t from 'tap';
import { PosternBox } from '../../support/box/postern-box.js';
import { makeCertificate } from '../../support/certificate.js';
import { temporaryFolder } from '../../support/redis/redis.js';

t.test('a port that is taken ends the start with a reason', async t => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  for (const key of ['POSTERN_SMTP_PORT', 'POSTERN_HTTP_PORT']) {
    const box = PosternBox.create(t, { env: { [key]: port } });
    t.same(await box.spawn().exited, { code: 1, signal: null }, key);
    t.match(box.heard(/^postern cannot start$/), [{ level: 'fatal', err: { code: 'EADDRINUSE' } }]);
  }
});

t.test('a wrong configuration is told on standard error with exit code 3', async t => {
  for (const [env, words] of [
    [{ POSTERN_MAIL_DOMAINS: 'not a domain' }, /POSTERN_MAIL_DOMAINS/],
    [{ POSTERN_SMTP_PROT: '25' }, /POSTERN_SMTP_PROT.*POSTERN_SMTP_PORT/s],
    [{ POSTERN_SMTP_TLS_CERT: makeCertificate(temporaryFolder(t)).POSTERN_SMTP_TLS_CERT ?? '' }, /tls_key/],
  ] as const) {
    const box = PosternBox.create(t, { env });
    t.same(await box.spawn().exited, { code: 3, signal: null });
    t.match(box.tail(), words);
  }
});

t.test('a certificate that cannot be read ends the start with a reason', async t => {
  const env = { ...makeCertificate(temporaryFolder(t)), POSTERN_SMTP_TLS_CERT: '/nonexistent/cert.pem' };
  const box = PosternBox.create(t, { env });
  const { code } = await box.spawn().exited;
  t.not(code, 0);
  t.match(box.tail(), /\/nonexistent\/cert\.pem/);
});
