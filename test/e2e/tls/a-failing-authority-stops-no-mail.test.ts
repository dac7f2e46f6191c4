import t from 'tap';
import { ask, overHttps, overSmtp, withAuthority } from '../../support/acme/acme-box.js';

t.test('until there is one mail is encrypted all the same, and failures are told', async t => {
  const { box, server } = await withAuthority(t);
  server.intervene = resource =>
    resource === 'newOrder'
      ? {
          type: 'rateLimited',
          detail: 'too many certificates already issued',
          status: 429,
          retryAfterS: 7200,
        }
      : null;
  const failed = box.hear(/^no certificate was issued/);
  await box.start();
  t.match((await failed).advice, /staging/);
  const smtp = await overSmtp(box.smtpPort);
  await smtp.close();

  const status = await box.cli('tls', 'status');
  t.match(status.stdout, /none yet/);
  t.match(status.stdout, /rateLimited: too many certificates already issued/);
  t.match((await box.cli('status')).stdout, /certificate +smtp and http: none yet, 1 failed tries/);
  const issue = await box.cli('--json', 'tls', 'issue');
  t.equal(issue.code, 1);
  t.match(JSON.parse(issue.stderr).error, { code: 'rate_limited', message: /The daemon tries again at 2/ });

  server.intervene = () => null;
  t.equal((await box.cli('tls', 'issue')).code, 0);
  process.kill(box.pid, 'SIGHUP');
  await box.hear(/^certificates and log level were read again$/);
  const https = await overHttps(box.httpPort, server.authority.root);
  t.equal(await ask(https), 'HTTP/1.1 200');
  https.destroy();
});
