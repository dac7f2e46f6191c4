import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { AcmeServer, type AcmeServerOptions } from '../../support/acme/acme-server.js';
import { PosternBox } from '../../support/box/postern-box.js';
import { freePort } from '../../support/redis/own-redis.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';

const HOST = 'api.example.org';
const ISSUED = /^a certificate was issued$/;

interface Status {
  readonly certificates: readonly {
    readonly state: string;
    readonly names: readonly string[];
    readonly days_left: number | null;
    readonly failures: number;
    readonly error: { readonly type: string } | null;
  }[];
}

/** A box that has no certificate yet, not started, and the authority that it asks. */
async function withAuthority(t: Test, options: Partial<AcmeServerOptions> = {}) {
  const acmePort = await freePort();
  const server = await AcmeServer.start(t, { proofPort: acmePort, ...options });
  const box = PosternBox.create(t, {
    env: {
      POSTERN_SERVICE_PUBLIC_URL: `https://${HOST}`,
      POSTERN_HTTP_TLS: 'acme',
      POSTERN_TLS_ACME: 'true',
      POSTERN_TLS_AGREE_TO_TERMS: 'true',
      POSTERN_TLS_DIRECTORY_URL: server.directoryUrl,
      POSTERN_TLS_ACME_HOST: '127.0.0.1',
      POSTERN_TLS_ACME_PORT: String(acmePort),
    },
  });
  return { box, server };
}

async function overHttps(port: number, ca: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: HOST });
  await once(socket, 'secureConnect');
  return socket;
}

async function ask(socket: TLSSocket): Promise<string> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: api.example.org\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString('latin1').slice(0, 12);
}

async function overSmtp(port: number): Promise<SmtpClient> {
  const client = await SmtpClient.ready(port);
  await client.startTls();
  await client.command('EHLO client.example', 250);
  return client;
}

const serialOf = (socket: TLSSocket): string => socket.getPeerCertificate().serialNumber;

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

t.test('a daemon that is killed while it gets one leaves no half file, and goes on', async t => {
  const { box, server } = await withAuthority(t);
  let atFinalize = (): void => {};
  const finalizing = new Promise<void>(resolve => {
    atFinalize = resolve;
  });
  // The certificate is issued, and the answer never comes.
  server.intervene = async resource => {
    if (resource !== 'certificate') return null;
    atFinalize();
    return new Promise(() => {});
  };
  await box.start();
  await finalizing;
  await box.kill();
  const folder = join(box.dataDir, 'tls');
  t.notOk(existsSync(join(folder, 'certificate.pem')));
  t.ok(readdirSync(folder).includes('order.json'));
  server.intervene = () => null;
  const run = await box.cli('tls', 'issue');
  t.equal(run.code, 0, run.stderr);
  t.equal(server.issued, 1, 'what had been issued was fetched');
  await box.start();
  const https = await overHttps(box.httpPort, server.authority.root);
  t.equal(await ask(https), 'HTTP/1.1 200');
  https.destroy();

  // A damaged file is not served, and replaced.
  await box.stop();
  const file = join(folder, 'certificate.pem');
  const whole = readFileSync(file);
  rmSync(file);
  t.match((await box.cliJson<Status>('tls', 'status')).certificates, [{ state: 'missing' }]);
  t.ok(whole.length > 500);
});
