import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { startDnsServer } from '../../../support/dns/dns-server.js';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';

const HOST = 'mail.agents.test';

/** A box whose name is `mail.agents.test`, at 127.0.0.1, and which tries the port of a server that greets so. */
async function withBox(t: Test, greeting: string | null) {
  const dns = await startDnsServer(t, {
    [DOMAIN]: { MX: [[10, HOST]], TXT: ['v=spf1 mx -all'] },
    [HOST]: { A: ['127.0.0.1'] },
    'far.test': { A: ['127.0.0.1'] },
  });
  const server = createServer(socket => {
    socket.on('error', () => undefined);
    if (greeting === null) socket.destroy();
    else socket.write(`${greeting}\r\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const box = await cliBox(t);
  Object.assign(box.env, {
    POSTERN_MAIL_HOSTNAME: HOST,
    POSTERN_DNS_SERVERS: dns.address,
    POSTERN_RELAY_DIRECT_SOURCE_ADDRESS: '127.0.0.1',
    POSTERN_RELAY_DIRECT_ALLOW_NETWORKS: '127.0.0.0/8',
    POSTERN_RELAY_DIRECT_IPV6: 'off',
    POSTERN_RELAY_DIRECT_PORT: String((server.address() as AddressInfo).port),
  });
  return { box, dns };
}

const check = (box: CliBox) => box.run('dns', 'check', '--try', 'far.test');

t.test('records are printed ready for a zone', async t => {
  const { box } = await withBox(t, '220 far.test');
  const { code, out } = await box.run('dns');
  t.equal(code, 0);
  t.match(out, `\n${HOST}. 3600 IN A 127.0.0.1\n`);
  t.match(out, `\n${DOMAIN}. 3600 IN MX 10 ${HOST}.\n`);
  t.match(out, `\n${DOMAIN}. 3600 IN TXT "v=spf1 a:${HOST} ~all"\n`);
  t.match(out, `\n_dmarc.${DOMAIN}. 3600 IN TXT "v=DMARC1; p=quarantine; rua=mailto:postmaster@${DOMAIN}"\n`);
  t.match(out, `\n_smtp._tls.${DOMAIN}. 3600 IN TXT "v=TLSRPTv1; rua=mailto:postmaster@${DOMAIN}"\n`);
  t.match(out, new RegExp(`\n\\w+\\._domainkey\\.${DOMAIN}\\. 3600 IN TXT "v=DKIM1; k=rsa; p=`));
  for (const line of out.split('\n')) t.match(line, /^(?:;.*|\S+\. 3600 IN (?:MX|A|AAAA|TXT) .+|)$/, line);
  const { records } = await box.json<{ records: { kind: string }[] }>('dns', DOMAIN);
  t.same(
    records.map(({ kind }) => kind),
    ['address', 'mx', 'spf', 'dkim', 'dkim', 'dmarc', 'tls_reporting'],
  );
});

t.test('a domain of others is not found', async t => {
  const { box } = await withBox(t, '220 far.test');
  for (const words of [
    ['dns', 'other.test'],
    ['dns', 'check', 'other.test'],
  ]) {
    const { code, err } = await box.run(...words);
    t.equal(code, 4);
    t.match(err, /other\.test is not one of mail\.domains/);
  }
});

t.test('when all that is essential is right, check ends with 0', async t => {
  const { box } = await withBox(t, '220 far.test ESMTP');
  const { code, out, err } = await check(box);
  t.equal(code, 0, err);
  t.match(out, `right      ${HOST} A\n`);
  t.match(out, `right      ${DOMAIN} MX\n`);
  t.match(out, new RegExp(`missing    _dmarc\\.${DOMAIN} TXT\\n +expected +v=DMARC1; p=quarantine`));
  t.match(out, /Outgoing port 25: open, far\.test \(127\.0\.0\.1\) at port \d+: 220 far\.test ESMTP\n/);
  t.match(out, 'DANE: not in play, the resolver does not validate answers (DNSSEC)\n');
});

t.test('when something essential is wrong, it ends with 1 and says what was expected and found', async t => {
  const { box, dns } = await withBox(t, '220 far.test');
  dns.set(DOMAIN, { MX: [[10, 'elsewhere.test']] });
  const { code, out, err } = await check(box);
  t.same([code, out], [1, '']);
  t.match(
    err,
    `different  ${DOMAIN} MX  (essential)\n           expected  10 ${HOST}\n           found     10 elsewhere.test\n`,
  );
  const failure = await box.failure('dns', 'check', '--try', 'far.test');
  t.match(failure, {
    code: 1,
    error: { code: 'dns_wrong', details: { ok: false, outgoing_port: { status: 'open' } } },
  });
});

t.test('a port that is closed, or where nobody greets, is told', async t => {
  const { box, dns } = await withBox(t, null);
  t.match((await check(box)).out, /Outgoing port 25: closed, far\.test .*closed without a greeting/);
  dns.remove('far.test');
  t.match((await check(box)).out, /Outgoing port 25: unknown, there is no domain far\.test/);
  box.env.POSTERN_RELAY_DIRECT_PORT = '1';
  dns.set('far.test', { A: ['127.0.0.1'] });
  t.match((await check(box)).out, /Outgoing port 25: closed, .*ECONNREFUSED/);
});

t.test('DANE is in play where the resolver validates', async t => {
  const { box, dns } = await withBox(t, '220 far.test');
  dns.set('org', { TXT: ['x'], isSigned: true });
  t.match((await check(box)).out, 'DANE: in play, the resolver validates answers (DNSSEC)\n');
});

t.test('control characters in what others publish do not reach the terminal', async t => {
  const { box, dns } = await withBox(t, '220 \u001b[31mfar');
  dns.set(`_dmarc.${DOMAIN}`, { TXT: ['v=DMARC1; \u001b[2Jx'] });
  const { out } = await check(box);
  t.notMatch(out, '\u001b');
  t.match(out, 'v=DMARC1; \\x1b[2Jx');
});

t.test('no address that others cannot reach is printed for the zone', async t => {
  const { box } = await withBox(t, '220 far.test');
  box.env.POSTERN_RELAY_DIRECT_ALLOW_NETWORKS = '';
  box.env.POSTERN_RELAY_DIRECT_SOURCE_ADDRESS = '10.1.2.3';
  box.env.POSTERN_SMTP_HOST = '127.0.0.1';
  t.notMatch((await box.run('dns')).out, /127\.0\.0\.1|10\.1\.2\.3/);
});

t.test('where a check fails it says what to do', async t => {
  const { box } = await withBox(t, '220 far.test');
  box.env.POSTERN_RELAY_TRANSPORT = 'direct';
  t.match((await check(box)).err, /Publish what is missing or different \("postern dns" prints it\)/);
  const closed = await withBox(t, null);
  closed.box.env.POSTERN_RELAY_TRANSPORT = 'direct';
  t.match((await check(closed.box)).err, /port 25 is closed: ask the provider/);
  box.env.POSTERN_DNS_SERVERS = '127.0.0.1:9';
  t.match((await check(box)).err, /see to the resolvers \(dns\.servers, else/);
});
