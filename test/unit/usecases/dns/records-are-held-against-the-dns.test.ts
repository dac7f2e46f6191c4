import type { Test } from 'tap';
import t from 'tap';
import { reverseName } from '../../../../src/domain/networks.js';
import { domainRecords, hostRecords, type ZoneFacts } from '../../../../src/domain/zone-records.js';
import {
  checkDomain,
  checkHost,
  isWrong,
  type RecordCheck,
} from '../../../../src/usecases/dns/check-zone.js';
import type { Zones } from '../../../support/dns/dns-server.js';
import { withDns } from '../../dns/with-dns.js';

const KEY = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`;
const facts: ZoneFacts = {
  domain: 'agents.test',
  hostname: 'mail.agents.test',
  addresses: ['8.8.8.1'],
  dkim: [{ selector: 's1', domain: 'agents.test', record: KEY }],
  transport: 'direct',
  mailDomains: ['agents.test'],
};
const right: Zones = {
  'agents.test': { MX: [[10, 'mail.agents.test']], TXT: ['other=1', 'v=spf1 a:mail.agents.test ~all'] },
  'mail.agents.test': { A: ['8.8.8.1'], TXT: ['v=spf1 a -all'] },
  's1._domainkey.agents.test': { TXT: [KEY] },
  '_dmarc.agents.test': { TXT: ['v=DMARC1; p=quarantine; rua=mailto:postmaster@agents.test'] },
  '_smtp._tls.agents.test': { TXT: ['v=TLSRPTv1; rua=mailto:postmaster@agents.test'] },
  [reverseName('8.8.8.1')]: { PTR: ['mail.agents.test'] },
};

async function checked(t: Test, changes: Zones, given: Partial<ZoneFacts> = {}): Promise<RecordCheck[]> {
  const { dns } = await withDns(t, { ...right, ...changes });
  const all = { ...facts, ...given };
  return [...(await checkHost(dns, all)), ...(await checkDomain(dns, all))];
}

const told = (checks: readonly RecordCheck[]) =>
  checks.flatMap(({ record, status }) => (status === 'right' ? [] : [`${record.kind} ${status}`]));

t.test('all that is published as it should be is right', async t => {
  const checks = await checked(t, {});
  t.same(told(checks), []);
  t.same(checks.map(({ record }) => record.kind).sort(), [
    'address',
    'dkim',
    'dmarc',
    'helo_spf',
    'mx',
    'ptr',
    'spf',
    'tls_reporting',
  ]);
});

t.test('what is missing is missing, and the essential is wrong', async t => {
  const checks = await checked(t, Object.fromEntries(Object.keys(right).map(name => [name, {}])));
  t.ok(checks.every(({ status }) => status === 'missing'));
  t.same(
    checks.filter(isWrong).map(({ record }) => record.kind),
    ['address', 'mx', 'spf', 'dkim'],
  );
});

t.test('what differs is shown as it was found', async t => {
  const checks = await checked(t, {
    'agents.test': { MX: [[10, 'elsewhere.test']], TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
    'mail.agents.test': { A: ['8.8.8.2'], TXT: ['v=spf1 -all'] },
    's1._domainkey.agents.test': { TXT: ['v=DKIM1; k=rsa; p=BBBB'] },
    '_dmarc.agents.test': { TXT: ['v=DMARC1; rua=mailto:a@b.test'] },
    '_smtp._tls.agents.test': { TXT: ['v=TLSRPTv1'] },
    [reverseName('8.8.8.1')]: { PTR: ['customer-1.provider.test'] },
  });
  t.same(told(checks).sort(), [
    'address different',
    'dkim different',
    'dmarc different',
    'helo_spf different',
    'mx different',
    'ptr different',
    'spf different',
    'tls_reporting different',
  ]);
  t.same(checks.find(({ record }) => record.kind === 'mx')?.found, ['10 elsewhere.test']);
});

t.test('a key that was revoked or is of another kind is another key', async t => {
  for (const record of ['v=DKIM1; k=rsa; p=', KEY.replace('rsa', 'ed25519')]) {
    t.same(told(await checked(t, { 's1._domainkey.agents.test': { TXT: [record] } })), ['dkim different']);
  }
  const spaced = `p=${'A'.repeat(200)} ${'A'.repeat(192)}; k=rsa`;
  t.same(
    told(await checked(t, { 's1._domainkey.agents.test': { TXT: [spaced] } })),
    [],
    'spaces do not matter',
  );
});

t.test('an SPF record may name us in its own words', async t => {
  const spf = (text: string) => ({ 'agents.test': { ...right['agents.test'], TXT: [text] } });
  for (const text of ['v=spf1 mx -all', 'v=spf1 +ip4:8.8.8.0/24 ?all', 'V=SPF1 MX -all'.toLowerCase()]) {
    t.same(told(await checked(t, spf(text))), [], text);
  }
  for (const text of ['v=spf1 include:other.test -all', 'v=spf1 redirect=other.test']) {
    const checks = await checked(t, spf(text));
    t.same(told(checks), ['spf unknown'], text);
    t.notOk(checks.some(isWrong));
  }
  for (const text of [
    'v=spf1 -mx ip4:8.8.8.0/99 ip4:x -all',
    'v=spf1 ip6:::/0 -all',
    'v=spf10 mx',
    'v=spf1 a -all',
  ]) {
    t.equal((await checked(t, spf(text))).filter(isWrong).length, 1, text);
  }
});

t.test('two records where one belongs are as bad as none', async t => {
  const checks = await checked(t, {
    'agents.test': { ...right['agents.test'], TXT: ['v=spf1 mx -all', 'v=spf1 a:mail.agents.test ~all'] },
  });
  t.match(
    checks.find(({ record }) => record.kind === 'spf'),
    { status: 'different', note: /more than one/ },
  );
});

t.test(
  'a name that is a mail domain, too, has one SPF record, and a zone that is as told is right',
  async t => {
    const hostname = facts.domain;
    const same = { ...facts, hostname };
    const records = [...hostRecords(same), ...domainRecords(same)];
    const ofName = records.filter(({ name, value }) => name === hostname && value.startsWith('v=spf1'));
    t.same(
      ofName.map(({ value }) => value),
      ['v=spf1 a:agents.test ~all'],
    );
    const zone = {
      [hostname]: { A: ['8.8.8.1'], MX: [[10, hostname]], TXT: ofName.map(({ value }) => value) },
      [reverseName('8.8.8.1')]: { PTR: [hostname] },
    } satisfies Zones;
    t.same(told(await checked(t, zone, { hostname })), []);
  },
);

t.test('an IPv6 address is the same in any spelling, and a policy in any letter case', async t => {
  const address = '2001:4860:4860:0:0:0:0:8888';
  const zone: Zones = {
    'mail.agents.test': { AAAA: ['2001:4860:4860::8888'], TXT: ['v=spf1 a -all'] },
    [reverseName(address)]: { PTR: ['mail.agents.test'] },
    '_dmarc.agents.test': { TXT: ['v=DMARC1; p=Reject'] },
  };
  t.same(told(await checked(t, zone, { addresses: [address] })), []);
});

t.test('what could not be looked up is neither right nor missing', async t => {
  const checks = await checked(t, { 'agents.test': { fault: 'servfail' } });
  t.same(told(checks), ['mx failed', 'spf failed']);
  t.equal(checks.filter(isWrong).length, 2);
});

t.test('a server that does not know its address goes by what its name has', async t => {
  t.same(told(await checked(t, {}, { addresses: [] })), []);
  const checks = await checked(t, { 'mail.agents.test': {} }, { addresses: [] });
  t.same(told(checks), ['address missing']);
});

t.test('without direct delivery only the way in is essential', async t => {
  const none = Object.fromEntries(Object.keys(right).map(name => [name, {}]));
  const checks = await checked(t, none, { transport: 'local' });
  t.same(
    checks.filter(isWrong).map(({ record }) => record.kind),
    ['address', 'mx'],
  );
});
