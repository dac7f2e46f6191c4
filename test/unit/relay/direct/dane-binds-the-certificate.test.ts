import { createHash, X509Certificate } from 'node:crypto';
import t, { type Test } from 'tap';
import { usableRecords } from '../../../../src/relay/direct/dane.js';
import type { TlsaRecord, TlsDemand } from '../../../../src/relay/direct/route.js';
import { type Identity, makeChain, makeIdentity } from '../../../support/certificate.js';
import { temporaryFolder } from '../../../support/redis/redis.js';
import { drop, type Script, say } from '../../../support/smarthost/smarthost-script.js';
import { delivererTo, deliverOne, host, routeTo, startHosts, verbs } from './with-hosts.js';

const NAME = 'mx.elsewhere.example';
const inFolder = () => temporaryFolder(t);
const chain = makeChain(inFolder(), `DNS:${NAME}`);
const otherName = makeChain(inFolder(), 'DNS:mx.other.example');
const expired = makeChain(inFolder(), `DNS:${NAME}`, -1);
const selfSigned = makeIdentity(inFolder(), 'DNS:whatever.example');
const stranger = makeIdentity(inFolder(), `DNS:${NAME}`);

/** The TLSA record of a certificate (RFC 6698 section 2.1). */
function tlsa(pem: string, usage: number, selector: number, matchingType: number): TlsaRecord {
  const certificate = new X509Certificate(pem);
  const bytes =
    selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' });
  const hash = ['', 'sha256', 'sha512'][matchingType];
  const data = hash === '' || hash === undefined ? bytes : createHash(hash).update(bytes).digest();
  return { usage, selector, matchingType, data };
}

async function withDane(
  t: Test,
  identity: Identity,
  dane: readonly TlsaRecord[],
  { script = {}, tls = 'opportunistic' }: { script?: Script; tls?: TlsDemand } = {},
) {
  const { servers, port } = await startHosts(t, [{ script, security: 'starttls', identity }]);
  const route = { ...routeTo({ ...host(NAME, '127.0.0.1'), dane }), tls };
  return { server: servers[0]!, deliverer: delivererTo(t, port, route, { ca: chain.authority }) };
}

for (const selector of [0, 1]) {
  for (const matchingType of [0, 1, 2]) {
    const what = `selector ${selector}, matching type ${matchingType}`;
    t.test(`usage 3, ${what}: right and wrong`, async t => {
      const right = await withDane(t, selfSigned, [tlsa(selfSigned.cert, 3, selector, matchingType)]);
      t.match(
        await deliverOne(right.deliverer),
        { state: 'delivered', tls: /^TLSv1/ },
        'the name does not count',
      );
      const wrong = await withDane(t, selfSigned, [tlsa(stranger.cert, 3, selector, matchingType)]);
      t.match(await deliverOne(wrong.deliverer), { state: 'later', code: '4.7.5', reply: /no TLSA record/ });
      t.same(verbs(wrong.server), ['EHLO', 'STARTTLS'], 'nothing is said in it, and nothing in plain text');
      t.equal(wrong.server.sessions.length, 1);
    });

    t.test(`usage 2, ${what}: right and wrong`, async t => {
      const right = await withDane(t, chain, [tlsa(chain.authority, 2, selector, matchingType)]);
      t.match(await deliverOne(right.deliverer), { state: 'delivered' });
      const wrong = await withDane(t, chain, [tlsa(otherName.authority, 2, selector, matchingType)]);
      t.match(await deliverOne(wrong.deliverer), { state: 'later', code: '4.7.5', reply: /no TLSA record/ });
    });
  }
}

t.test('one right record among wrong ones is enough', async t => {
  const records = [
    tlsa(stranger.cert, 3, 1, 1),
    tlsa(chain.authority, 2, 0, 1),
    tlsa(stranger.cert, 3, 0, 1),
  ];
  const { deliverer } = await withDane(t, chain, records);
  t.match(await deliverOne(deliverer), { state: 'delivered' });
});

t.test('usage 3: an expired certificate will do, as its record says which it is', async t => {
  const { deliverer } = await withDane(t, expired, [tlsa(expired.leaf, 3, 1, 1)]);
  t.match(await deliverOne(deliverer), { state: 'delivered' });
});

for (const [claim, identity, words] of [
  ['of another name', otherName, /not for mx\.elsewhere/],
  ['expired', expired, /expired/],
] as const) {
  t.test(`usage 2: a certificate that is ${claim} will not`, async t => {
    const { server, deliverer } = await withDane(t, identity, [tlsa(identity.authority, 2, 1, 1)]);
    t.match(await deliverOne(deliverer), { state: 'later', code: '4.7.5', reply: words });
    t.equal(server.submissions.length, 0);
  });
}

t.test('usage 2: an authority that is sent along but has signed nothing proves nothing', async t => {
  const forged = { ...stranger, cert: stranger.cert + chain.authority };
  const { server, deliverer } = await withDane(t, forged, [tlsa(chain.authority, 2, 0, 1)]);
  t.match(await deliverOne(deliverer), { state: 'later', code: '4.7.5' });
  t.equal(server.submissions.length, 0);
});

t.test('usage 2: nor does one whose name is that of the issuer, when another key has signed', async t => {
  const namesake = makeChain(temporaryFolder(t), `DNS:${NAME}`);
  const forged = { ...namesake, cert: namesake.leaf + chain.authority };
  const { server, deliverer } = await withDane(t, forged, [tlsa(chain.authority, 2, 0, 1)]);
  t.match(await deliverOne(deliverer), { state: 'later', code: '4.7.5', reply: /do not lead up/ });
  t.equal(server.submissions.length, 0);
});

t.test('usage 2: the certificate of the server is not its own authority', async t => {
  const { deliverer } = await withDane(t, stranger, [tlsa(stranger.cert, 2, 0, 1)]);
  t.match(await deliverOne(deliverer), { state: 'later', code: '4.7.5' });
});

for (const [claim, script] of [
  ['refused STARTTLS', { starttls: say('454 4.7.0 Not now') }],
  ['a failed handshake', { handshake: drop }],
  ['no STARTTLS', { ehlo: say('250 fake.example'), starttls: say('502 5.5.1 What?') }],
] as const) {
  t.test(`with TLSA records ${claim} does not lead to plain text`, async t => {
    const { server, deliverer } = await withDane(t, selfSigned, [tlsa(selfSigned.cert, 3, 1, 1)], { script });
    t.match(await deliverOne(deliverer), { state: 'later', code: '4.7.5' });
    t.notOk(server.sessions.some((_, at) => verbs(server, at).includes('MAIL')));
  });
}

t.test('records of which none is usable demand TLS, with any certificate', async t => {
  const unusable = [tlsa(stranger.cert, 0, 0, 1), tlsa(stranger.cert, 1, 1, 1)];
  const { deliverer } = await withDane(t, selfSigned, unusable);
  t.match(await deliverOne(deliverer), { state: 'delivered', tls: /^TLSv1/ });
  const refused = await withDane(t, selfSigned, unusable, { script: { starttls: say('454 4.7.0 Not now') } });
  t.match(await deliverOne(refused.deliverer), { state: 'later', code: '4.7.5' });
});

t.test('DANE goes before MTA-STS: right is enough, wrong is not mended by a known authority', async t => {
  const right = await withDane(t, selfSigned, [tlsa(selfSigned.cert, 3, 1, 1)], { tls: 'verify' });
  t.match(await deliverOne(right.deliverer), { state: 'delivered' });
  const wrong = await withDane(t, chain, [tlsa(stranger.cert, 3, 1, 1)], { tls: 'verify' });
  t.match(await deliverOne(wrong.deliverer), { state: 'later', code: '4.7.5' });
});

t.test('no records at all: DANE is not in play', async t => {
  const { deliverer } = await withDane(t, selfSigned, [], { script: { starttls: say('454 4.7.0 Not now') } });
  t.match(await deliverOne(deliverer), { state: 'delivered', tls: null });
});

t.test('a session that one set of records opened does not serve another', async t => {
  const { servers, port } = await startHosts(t, [{ security: 'starttls', identity: selfSigned }]);
  const records = [[tlsa(selfSigned.cert, 3, 1, 1)], [tlsa(stranger.cert, 3, 1, 1)]];
  let at = 0;
  const deliverer = delivererTo(t, port, () => routeTo({ ...host(NAME, '127.0.0.1'), dane: records[at++]! }));
  t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.match(await deliverOne(deliverer), { state: 'later', code: '4.7.5' });
  t.equal(servers[0]?.submissions.length, 1);
});

t.test('which records are usable', async t => {
  const data = Buffer.from('x');
  const record = (usage: number, selector: number, matchingType: number, bytes = data) => ({
    usage,
    selector,
    matchingType,
    data: bytes,
  });
  const usable = [record(2, 0, 1), record(3, 1, 2)];
  const not = [record(0, 0, 1), record(1, 0, 1), record(4, 0, 1), record(3, 2, 1), record(3, 0, 3)];
  t.same(usableRecords([...usable, ...not, record(3, 1, 1, Buffer.alloc(0))]), usable);
});
