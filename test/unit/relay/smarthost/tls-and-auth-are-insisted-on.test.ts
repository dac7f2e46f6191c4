import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import type { SmarthostOptions } from '../../../../src/relay/smarthost/options.js';
import { makeIdentity } from '../../../support/certificate.js';
import { temporaryFolder } from '../../../support/redis/redis.js';
import { withFakeSmarthost } from '../../../support/smarthost/fake-smarthost.js';
import {
  andThen,
  drop,
  raw,
  type Script,
  type SmarthostSettings,
  say,
  stall,
} from '../../../support/smarthost/smarthost-script.js';
import { attempt, leftBehind, transportTo, withSmarthost } from './with-smarthost.js';

const login = { user: 'postern', password: 'söme "secret" with spaces ' };

/** A smarthost with a certificate for localhost and 127.0.0.1, and a transport that trusts it. */
async function secured(
  t: Test,
  script: Script = {},
  options: Partial<SmarthostOptions> = {},
  settings: SmarthostSettings = {},
) {
  const folder = temporaryFolder(t);
  const identity = makeIdentity(folder, 'DNS:localhost,IP:127.0.0.1');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${login.password}\n`);
  const smarthost = await withFakeSmarthost(t, script, { security: 'starttls', identity, ...settings });
  const tls = settings.security === 'implicit' ? 'implicit' : 'starttls';
  const transport = transportTo(t, smarthost.port, { tls, caFile: identity.certFile, ...options });
  return { smarthost, transport, passwordFile, folder };
}

const withLogin = (file: string) => ({ user: login.user, passwordFile: file });

for (const security of ['starttls', 'implicit'] as const) {
  for (const host of ['localhost', '127.0.0.1']) {
    t.test(`${security} to ${host}: everything of the message is encrypted`, async t => {
      const { smarthost, transport } = await secured(t, {}, { host }, { security });
      t.match(await transport.submit(attempt()), { status: 'accepted' });
      t.match(smarthost.submissions, [{ isTls: true, user: null }]);
      const [first] = smarthost.sessions[0]?.lines ?? [];
      t.equal(first, 'EHLO mx.example.org');
      t.equal(smarthost.sessions[0]?.lines.includes('STARTTLS'), security === 'starttls');
    });
  }

  t.test(`${security}: a certificate of another name is refused`, async t => {
    const folder = temporaryFolder(t);
    const identity = makeIdentity(folder, 'DNS:mx.example.org');
    const smarthost = await withFakeSmarthost(t, {}, { security, identity });
    const transport = transportTo(t, smarthost.port, {
      tls: security,
      caFile: identity.certFile,
      host: 'localhost',
    });
    t.match(await transport.submit(attempt()), {
      status: 'rejected',
      errorCode: 'E_RELAY_TLS_FAILED',
      detail: /ERR_TLS_CERT_ALTNAME_INVALID/,
    });
    t.notOk(smarthost.sessions[0]?.lines.some(line => line.startsWith('MAIL')));
  });

  t.test(`${security}: a certificate that nobody vouches for is refused`, async t => {
    const { smarthost, transport } = await secured(t, {}, { caFile: null }, { security });
    t.match(await transport.submit(attempt()), {
      status: 'rejected',
      errorCode: 'E_RELAY_TLS_FAILED',
      detail: /self[- _]signed/i,
    });
    t.equal(smarthost.submissions.length, 0);
  });

  t.test(`${security}: NODE_TLS_REJECT_UNAUTHORIZED does not turn the check off`, async t => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    t.teardown(() => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    });
    const { transport } = await secured(t, {}, { caFile: null }, { security });
    t.match(await transport.submit(attempt()), { errorCode: 'E_RELAY_TLS_FAILED' });
  });

  for (const [claim, handshake, errorCode] of [
    ['ends', drop, 'E_RELAY_TLS_FAILED'],
    ['is plain text', say('220 hello'), 'E_RELAY_TLS_FAILED'],
    ['never comes', stall, 'E_RELAY_TIMEOUT'],
  ] as const) {
    t.test(`${security}: a handshake that ${claim}`, async t => {
      const { smarthost, transport } = await secured(t, { handshake }, { setupMs: 200 }, { security });
      t.match(await transport.submit(attempt()), { status: 'rejected', errorCode });
      await transport.close(0);
      await smarthost.stop();
      t.same(await leftBehind(), []);
    });
  }
}

t.test('a server without STARTTLS gets nothing', async t => {
  const { smarthost, transport } = await withSmarthost(
    t,
    { starttls: say('502 5.5.1 What?') },
    { tls: 'starttls' },
  );
  t.match(await transport.submit(attempt()), { status: 'rejected', errorCode: 'E_RELAY_TLS_FAILED' });
  t.same(smarthost.sessions[0]?.lines, ['EHLO mx.example.org', 'STARTTLS']);
});

t.test('nor does one that knows no EHLO', async t => {
  const { smarthost, transport } = await withSmarthost(
    t,
    { ehlo: say('502 5.5.1 What?') },
    { tls: 'starttls' },
  );
  t.match(await transport.submit(attempt()), { status: 'rejected', errorCode: 'E_RELAY_TLS_FAILED' });
  t.same(smarthost.sessions[0]?.lines, ['EHLO mx.example.org']);
});

for (const [claim, act, errorCode] of [
  ['454', say('454 4.7.0 Not now'), 'E_RELAY_TLS_FAILED'],
  ['421', andThen(say('421 4.3.2 Bye'), 'drop'), 'E_TEMPORARY_FAILURE'],
  ['the end', drop, 'E_RELAY_UNREACHABLE'],
  ['nothing', stall, 'E_RELAY_TIMEOUT'],
] as const) {
  t.test(`STARTTLS answered with ${claim}`, async t => {
    const { smarthost, transport } = await secured(t, { starttls: act }, { setupMs: 200 });
    t.match(await transport.submit(attempt()), { status: 'rejected', errorCode });
    t.notOk(smarthost.sessions[0]?.lines.some(line => line.startsWith('MAIL')));
  });
}

t.test('what came in plain text behind the 220 is no answer in the encrypted session', async t => {
  // Replies that an attacker injects before the handshake must be neither used nor matched to later commands.
  const { smarthost, transport } = await secured(t, {
    starttls: raw('220 2.0.0 Ready\r\n250-evil.example\r\n250 AUTH PLAIN\r\n'),
  });
  const outcome = await transport.submit(attempt());
  t.not(outcome.status, 'unknown');
  if (outcome.status === 'accepted') t.match(smarthost.submissions, [{ isTls: true }]);
  else t.equal(smarthost.submissions.length, 0);
});

for (const mechanism of ['PLAIN', 'LOGIN', 'CRAM-MD5']) {
  t.test(`AUTH ${mechanism}, with the password from its file`, async t => {
    const { smarthost, transport, passwordFile } = await secured(
      t,
      {},
      {},
      { login, mechanisms: ['XOAUTH2', mechanism] },
    );
    const other = transportTo(t, smarthost.port, {
      tls: 'starttls',
      caFile: join(passwordFile, '..', 'cert.pem'),
      ...withLogin(passwordFile),
    });
    t.match(await other.submit(attempt()), { status: 'accepted' });
    t.match(smarthost.submissions, [{ user: 'postern', isTls: true }]);
    t.match(await transport.submit(attempt()), {
      errorCode: 'E_RELAY_AUTH_FAILED',
      detail: /^530 .* \(at MAIL\)$/,
    });
  });
}

t.test('a wrong password is told, and is not in what is told', async t => {
  const { smarthost, transport: _, passwordFile, folder } = await secured(t, {}, {}, { login });
  writeFileSync(passwordFile, 'not-the-password');
  const options = { tls: 'starttls' as const, caFile: join(folder, 'cert.pem'), ...withLogin(passwordFile) };
  const transport = transportTo(t, smarthost.port, options);
  const outcome = await transport.submit(attempt());
  t.match(outcome, { status: 'rejected', errorCode: 'E_RELAY_AUTH_FAILED', detail: /^535 5\.7\.8 / });
  t.notMatch(JSON.stringify(outcome), /not-the-password/);

  writeFileSync(passwordFile, login.password);
  t.equal((await transport.submit(attempt())).status, 'accepted', 'the file is read anew');
  writeFileSync(passwordFile, `${login.password}\r\n`);
  await transport.close(1000);
});

for (const [claim, script, settings, errorCode] of [
  ['no AUTH', {}, {}, 'E_RELAY_AUTH_FAILED'],
  ['only what needs a token', {}, { login, mechanisms: ['XOAUTH2', 'GSSAPI'] }, 'E_RELAY_AUTH_FAILED'],
  ['454', { auth: say('454 4.7.0 Not now') }, { login }, 'E_RELAY_AUTH_FAILED'],
  ['421', { auth: andThen(say('421 4.3.2 Bye'), 'drop') }, { login }, 'E_TEMPORARY_FAILURE'],
  ['the end', { auth: drop }, { login }, 'E_RELAY_UNREACHABLE'],
  ['garbage', { auth: say('what?') }, { login }, 'E_RELAY_UNREACHABLE'],
  ['garbage that begins with a 2', { auth: say('2what?') }, { login }, 'E_RELAY_UNREACHABLE'],
  ['nothing', { auth: stall }, { login }, 'E_RELAY_TIMEOUT'],
  [
    'used up credits',
    { auth: say('451 Authentication failed: Maximum credits exceeded') },
    { login },
    'E_DAILY_LIMIT_EXCEEDED',
  ],
] as const) {
  t.test(`a server that offers or answers to AUTH: ${claim}`, async t => {
    const { smarthost, passwordFile, folder } = await secured(t, script, {}, settings);
    const options = { tls: 'starttls' as const, caFile: join(folder, 'cert.pem'), setupMs: 300 };
    const transport = transportTo(t, smarthost.port, { ...options, ...withLogin(passwordFile) });
    t.match(await transport.submit(attempt()), { status: 'rejected', errorCode });
    const lines = smarthost.sessions[0]?.lines ?? [];
    t.notOk(lines.some(line => line.startsWith('MAIL')));
    if (claim.includes('AUTH') || claim.includes('token')) {
      t.notOk(
        lines.some(line => line.startsWith('AUTH')),
        'the password is not offered to it',
      );
    }
    await transport.close(0);
    await smarthost.stop();
    t.same(await leftBehind(), []);
  });
}

t.test('a password or authorities that cannot be read: nothing is even connected', async t => {
  const { smarthost, folder } = await secured(t);
  const missing = join(folder, 'missing');
  const noPassword = transportTo(t, smarthost.port, { tls: 'starttls', ...withLogin(missing) });
  t.match(await noPassword.submit(attempt()), {
    errorCode: 'E_RELAY_AUTH_FAILED',
    detail: /cannot read .*ENOENT/,
  });
  const noCa = transportTo(t, smarthost.port, { tls: 'starttls', caFile: missing });
  t.match(await noCa.submit(attempt()), { errorCode: 'E_RELAY_TLS_FAILED', detail: /cannot read .*ENOENT/ });
  writeFileSync(missing, '\n');
  t.match(await noPassword.submit(attempt()), {
    errorCode: 'E_RELAY_AUTH_FAILED',
    detail: /the file is empty/,
  });
  writeFileSync(missing, 'no certificate');
  t.match(await noCa.submit(attempt()), { status: 'rejected', errorCode: 'E_RELAY_TLS_FAILED' });
  t.notOk(smarthost.sessions.some(session => session.lines.some(line => line.startsWith('MAIL'))));
});
