import t from 'tap';
import { nameserversIn } from '../../../src/dns/servers.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { dnsClient, IMPATIENT } from './with-dns.js';

t.test('when the first is not there, says nothing or refuses', async t => {
  const good = await startDnsServer(t, { 'a.test': { A: ['192.0.2.1'] } });
  const silent = await startDnsServer(t, { 'a.test': { fault: 'silent' } });
  const broken = await startDnsServer(t, { 'a.test': { fault: 'servfail' } });
  for (const first of ['127.0.0.1:1', silent.address, broken.address]) {
    const dns = dnsClient(t, { servers: [first, good.address], times: IMPATIENT });
    t.match(await dns.lookup('a.test', 'A'), { kind: 'found' }, first);
  }
  t.equal(broken.timesAsked('a.test'), 1);
});

t.test('a resolver that refuses is not asked twice, one that was silent is', async t => {
  const broken = await startDnsServer(t, { 'a.test': { fault: 'servfail' } });
  const silent = await startDnsServer(t, { 'a.test': { fault: 'silent' } });
  const dns = dnsClient(t, { servers: [broken.address, silent.address], times: IMPATIENT });
  t.match(await dns.lookup('a.test', 'A'), { kind: 'failed' });
  t.same([broken.timesAsked('a.test'), silent.timesAsked('a.test')], [1, 2]);
});

t.test('that there is no such name is an answer', async t => {
  const first = await startDnsServer(t, {});
  const second = await startDnsServer(t, { 'a.test': { A: ['192.0.2.1'] } });
  const dns = dnsClient(t, { servers: [first.address, second.address] });
  t.match(await dns.lookup('a.test', 'A'), { kind: 'no_name' });
  t.same(second.asked, []);
});

t.test('the resolvers of the system are those of resolv.conf', async t => {
  const text =
    '# nameserver 9.9.9.9\nsearch example.com\nnameserver 192.0.2.53\nnameserver\t::1\nnameserver x\n';
  t.same(nameserversIn(text), ['192.0.2.53', '::1']);
  t.same(nameserversIn(''), ['127.0.0.1'], 'without any, it is on this machine');
});

t.test('closing ends what is under way', async t => {
  const silent = await startDnsServer(t, { 'a.test': { fault: 'silent' } });
  const dns = dnsClient(t, { servers: [silent.address] });
  const answer = dns.lookup('a.test', 'A');
  dns.close();
  t.match(await answer, { kind: 'failed' });
  t.match(await dns.lookup('b.test', 'A'), { kind: 'failed' });
});
