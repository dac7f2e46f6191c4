import t, { type Test } from 'tap';
import type { TlsDemand } from '../../../../src/relay/direct/route.js';
import { type Identity, makeChain, makeIdentity } from '../../../support/certificate.js';
import { temporaryFolder } from '../../../support/redis/redis.js';
import { andThen, drop, raw, type Script, say, stall } from '../../../support/smarthost/smarthost-script.js';
import { delivererTo, deliverOne, host, routeTo, startHosts, verbs } from './with-hosts.js';

const NAME = 'mx.elsewhere.example';
const folder = temporaryFolder(t);
const inFolder = () => temporaryFolder(t);
const selfSigned = makeIdentity(folder, `DNS:${NAME}`);
const right = makeChain(inFolder(), `DNS:${NAME}`);
const wildcard = makeChain(inFolder(), 'DNS:*.elsewhere.example');
const wrongName = makeChain(inFolder(), 'DNS:mx.other.example');
const expired = makeChain(inFolder(), `DNS:${NAME}`, -1);

const demands: readonly TlsDemand[] = ['opportunistic', 'require', 'verify'];

interface Setup {
  readonly script?: Script;
  readonly identity?: Identity;
  readonly security?: 'plain' | 'starttls';
  readonly ca?: string;
}

/** A host with TLS, and a route to it that demands this. */
async function withTls(
  t: Test,
  tls: TlsDemand,
  { script = {}, identity = right, security = 'starttls', ca = right.authority }: Setup = {},
) {
  const { servers, port } = await startHosts(t, [{ script, security, identity }]);
  const route = { ...routeTo(host(NAME, '127.0.0.1')), tls };
  const deliverer = delivererTo(t, port, route, { ca, setupMs: 400, silenceMs: 200 });
  return { server: servers[0]!, deliverer };
}

for (const tls of demands) {
  t.test(`${tls}: STARTTLS where it is offered, and everything of the message is encrypted`, async t => {
    const { server, deliverer } = await withTls(t, tls);
    t.match(await deliverOne(deliverer), { state: 'delivered', tls: /^TLSv1\.[23]$/ });
    t.match(server.submissions, [{ isTls: true }]);
    t.same(verbs(server).slice(0, 4), ['EHLO', 'STARTTLS', 'EHLO', 'MAIL']);
  });
}

t.test('verify: a wildcard certificate for the name will do', async t => {
  const { deliverer } = await withTls(t, 'verify', { identity: wildcard, ca: wildcard.authority });
  t.match(await deliverOne(deliverer), { state: 'delivered' });
});

const certificates: readonly (readonly [string, Setup, RegExp])[] = [
  ['self-signed', { identity: selfSigned }, /SELF_SIGNED/],
  ['of an unknown authority', { ca: wrongName.authority }, /UNABLE_TO_|SELF_SIGNED|SIGNATURE/],
  ['expired', { identity: expired, ca: expired.authority }, /CERT_HAS_EXPIRED/],
  ['of another name', { identity: wrongName, ca: wrongName.authority }, /ALTNAME_INVALID/],
];

for (const [claim, setup, words] of certificates) {
  t.test(`verify: a certificate that is ${claim} gets nothing`, async t => {
    const { server, deliverer } = await withTls(t, 'verify', setup);
    t.match(await deliverOne(deliverer), {
      state: 'later',
      code: '4.7.5',
      reply: words,
      host: NAME,
      tls: null,
    });
    t.equal(server.sessions.length, 1, 'there is no second try in plain text');
    t.same(verbs(server), ['EHLO', 'STARTTLS']);
  });

  for (const tls of ['opportunistic', 'require'] as const) {
    t.test(`${tls}: one that is ${claim} will do`, async t => {
      const { server, deliverer } = await withTls(t, tls, setup);
      t.match(await deliverOne(deliverer), { state: 'delivered', tls: /^TLSv1/ });
      t.match(server.submissions, [{ isTls: true }]);
    });
  }
}

t.test('NODE_TLS_REJECT_UNAUTHORIZED does not turn verify off', async t => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.teardown(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  });
  const { deliverer } = await withTls(t, 'verify', { identity: selfSigned });
  t.match(await deliverOne(deliverer), { state: 'later', code: '4.7.5' });
});

const noTls: readonly (readonly [string, Setup, number])[] = [
  ['not offered', { security: 'plain', script: { starttls: say('502 5.5.1 What?') } }, 1],
  ['refused with 454', { script: { starttls: say('454 4.7.0 Not now') } }, 1],
  ['answered with the end', { script: { starttls: ({ session }) => (session === 1 ? drop : null) } }, 2],
  ['never answered', { script: { starttls: stall } }, 2],
  ['followed by the end', { script: { handshake: drop } }, 2],
  ['followed by plain text', { script: { handshake: say('220 hello') } }, 2],
  ['followed by silence', { script: { handshake: stall } }, 2],
];

for (const [claim, setup, connections] of noTls) {
  t.test(`opportunistic: STARTTLS that is ${claim} leaves plain text`, async t => {
    const { server, deliverer } = await withTls(t, 'opportunistic', setup);
    t.match(await deliverOne(deliverer), { state: 'delivered', tls: null });
    t.match(server.submissions, [{ isTls: false }]);
    t.equal(server.sessions.length, connections);
    // The plain session serves the next message.
    t.match(await deliverOne(deliverer), { state: 'delivered' });
    t.equal(server.sessions.length, connections);
  });

  for (const tls of ['require', 'verify'] as const) {
    t.test(`${tls}: STARTTLS that is ${claim} gets nothing`, async t => {
      const { server, deliverer } = await withTls(t, tls, setup);
      t.match(await deliverOne(deliverer), { state: 'later', code: /^4\.(?:7\.5|4\.2)$/ });
      t.equal(server.sessions.length, 1);
      t.notOk(verbs(server).includes('MAIL'));
    });
  }
}

t.test('a server that knows no EHLO gets plain text, or nothing where TLS is demanded', async t => {
  const script: Script = { ehlo: ({ line }) => (line.startsWith('EHLO') ? say('502 5.5.1 What?') : null) };
  const free = await withTls(t, 'opportunistic', { script });
  t.match(await deliverOne(free.deliverer), { state: 'delivered', tls: null });
  const strict = await withTls(t, 'require', { script });
  t.match(await deliverOne(strict.deliverer), { state: 'later', code: '4.7.5' });
  t.same(verbs(strict.server), ['EHLO']);
});

for (const tls of demands) {
  for (const injected of ['250 evil.example\r\n', '250-evil.example\r\n250 SIZE 5\r\n', '25']) {
    t.test(
      `${tls}: plain text behind the reply to STARTTLS (${JSON.stringify(injected)}) ends the session`,
      async t => {
        const { server, deliverer } = await withTls(t, tls, {
          script: { starttls: raw(`220 2.0.0 Ready\r\n${injected}`) },
        });
        t.match(await deliverOne(deliverer), { state: 'later', code: '4.7.5', reply: /plain text follows/ });
        t.equal(server.sessions.length, 1);
        t.notOk(verbs(server).includes('MAIL'));
      },
    );
  }
}

t.test('421 to STARTTLS is for later, not for plain text', async t => {
  const { server, deliverer } = await withTls(t, 'opportunistic', {
    script: { starttls: andThen(say('421 4.3.2 Bye'), 'drop') },
  });
  t.match(await deliverOne(deliverer), { state: 'later', reply: '421 4.3.2 Bye', isThrottled: true });
  t.equal(server.sessions.length, 1);
});

t.test('a session that any certificate opened does not serve a route that demands the right one', async t => {
  const { servers, port } = await startHosts(t, [{ security: 'starttls', identity: selfSigned }]);
  const route = routeTo(host(NAME, '127.0.0.1'));
  const deliverer = delivererTo(
    t,
    port,
    domain => ({ ...route, tls: domain === 'strict.example' ? 'verify' : 'opportunistic' }),
    { ca: right.authority },
  );
  t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.match(await deliverOne(deliverer, { domain: 'strict.example' }), { state: 'later', code: '4.7.5' });
  t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.equal(servers[0]?.sessions.length, 2, 'the first one goes on');
});

t.test('verify: the next host is tried when the first shows a wrong certificate', async t => {
  const { servers, port } = await startHosts(t, [
    { security: 'starttls', identity: selfSigned },
    { security: 'starttls', identity: right },
  ]);
  const route = {
    ...routeTo(host('mx0.test', '127.0.0.1'), host(NAME, '127.0.0.2')),
    tls: 'verify' as const,
  };
  const deliverer = delivererTo(t, port, route, { ca: right.authority });
  t.match(await deliverOne(deliverer), { state: 'delivered', host: NAME });
  t.equal(servers[0]?.submissions.length, 0);
});
