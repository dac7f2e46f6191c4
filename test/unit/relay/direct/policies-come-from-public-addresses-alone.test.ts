import t from 'tap';
import { DnsClient } from '../../../../src/dns/dns-client.js';
import { Reach } from '../../../../src/domain/networks.js';
import { fetchPolicy } from '../../../../src/relay/direct/fetch-policy.js';
import { startDnsServer } from '../../../support/dns/dns-server.js';
import { type PolicyHost, startPolicyHost } from '../../../support/dns/policy-host.js';

const POLICY = 'version: STSv1\nmode: enforce\nmx: mx.example.com\nmax_age: 86400\n';

async function withHost(t: Parameters<typeof startPolicyHost>[0], names = 'DNS:mta-sts.example.com') {
  const host = await startPolicyHost(t, names, POLICY);
  const server = await startDnsServer(t, { 'mta-sts.example.com': { A: ['127.0.0.1'] } });
  const dns = new DnsClient({ servers: [server.address], trustAd: false });
  t.teardown(() => dns.close());
  const fetch = (allow: readonly string[] = ['127.0.0.1'], timeoutMs?: number) =>
    fetchPolicy({ dns, reach: new Reach(allow), host }, 'example.com', timeoutMs);
  return { host, server, fetch };
}

t.test('a policy is fetched from the policy host of the domain', async t => {
  const { host, fetch } = await withHost(t);
  t.same(await fetch(), {
    ok: true,
    policy: { mode: 'enforce', mx: ['mx.example.com'], maxAgeS: 86400 },
  });
  t.same(host.asked, [`mta-sts.example.com:${host.port} /.well-known/mta-sts.txt`]);
});

t.test('never from an address of our own network', async t => {
  const { host, server, fetch } = await withHost(t);
  for (const A of ['127.0.0.1', '10.0.0.1', '169.254.169.254']) {
    server.set('mta-sts.example.com', { A: [A] });
    t.match(await fetch([]), { ok: false, reason: /no address that may be reached/ }, A);
  }
  server.set('mta-sts.example.com', { AAAA: ['::ffff:127.0.0.1'] });
  t.match(await fetch([]), { ok: false, reason: /no address that may be reached/ });
  t.same(host.asked, []);
});

t.test('nor with a certificate for another name, or of nobody known', async t => {
  const other = await withHost(t, 'DNS:example.com');
  t.match(await other.fetch(), { ok: false });
  const { host, fetch } = await withHost(t);
  const stranger = await startPolicyHost(t, 'DNS:mta-sts.example.com', POLICY);
  Object.assign(host, { ca: stranger.ca });
  t.match(await fetch(), { ok: false });
  t.same([...host.asked, ...other.host.asked], []);
});

t.test('no redirect is followed, no other answer is taken', async t => {
  const { host, fetch } = await withHost(t);
  const answers: Record<string, PolicyHost['answer']> = {
    redirect: (_request, response) =>
      response.writeHead(302, { location: '/elsewhere', 'content-type': 'text/plain' }).end(POLICY),
    missing: (_request, response) => response.writeHead(404, { 'content-type': 'text/plain' }).end(POLICY),
    html: (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(POLICY),
    wrong: 'version: STSv3',
  };
  for (const [name, answer] of Object.entries(answers)) {
    host.answer = answer;
    t.match(await fetch(), { ok: false }, name);
  }
  t.equal(host.asked.length, 4, 'once each');
});

t.test('64 KiB at most', async t => {
  const { host, fetch } = await withHost(t);
  const filler = `note: ${'x'.repeat(1018)}\n`;
  host.answer = POLICY + filler.repeat(63);
  t.match(await fetch(), { ok: true });
  let sent = 0;
  host.answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const more = (): void => {
      while (!response.destroyed && response.write(filler)) sent += filler.length;
    };
    response.on('drain', more);
    more();
  };
  t.match(await fetch(), { ok: false, reason: /larger than 65536/ });
  t.ok(sent < 50_000_000, `${sent} bytes were sent`);
});

t.test('a host that is slow is given up, wherever it stops', async t => {
  const { host, server, fetch } = await withHost(t);
  host.answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write('version: STSv1\n');
  };
  t.match(await fetch(['127.0.0.1'], 300), { ok: false, reason: /no answer within 0\.3 seconds/ });
  host.answer = () => undefined;
  t.match(await fetch(['127.0.0.1'], 300), { ok: false, reason: /no answer within/ });
  server.set('mta-sts.example.com', { fault: 'silent' });
  t.match(await fetch(['127.0.0.1'], 300), { ok: false, reason: /no answer within/ });
});
