import t from 'tap';
import { serversOf } from '../../../src/dns/servers.js';
import { withDns } from './with-dns.js';

t.test('the word of a resolver on this machine counts: the AD bit is asked for and read', async t => {
  const { dns } = await withDns(t, {
    'signed.test': { A: ['192.0.2.1'], isSigned: true },
    'plain.test': { A: ['192.0.2.1'] },
    'alias.test': { CNAME: 'plain.test', isSigned: true },
  });
  t.match(await dns.lookup('signed.test', 'A'), { kind: 'found', isAuthentic: true });
  t.match(await dns.lookup('signed.test', 'MX'), { kind: 'none', isAuthentic: true });
  t.match(await dns.lookup('plain.test', 'A'), { kind: 'found', isAuthentic: false });
  t.match(await dns.lookup('alias.test', 'A'), { kind: 'found', isAuthentic: false }, 'all of it, or none');
});

t.test('that of another machine counts only with trust_ad', async t => {
  const trusted = (servers: string[], trustAd: boolean) =>
    serversOf({ servers, trustAd })().map(({ isTrusted }) => isTrusted);
  t.same(trusted(['127.0.0.1', '[::1]:5353', '192.0.2.53', '192.0.2.53:53'], false), [true, true, false]);
  t.same(trusted(['192.0.2.53', '2001:db8::53'], true), [true, true]);
});

t.test('addresses and ports of resolvers are read', async t => {
  const places = serversOf({ servers: ['127.0.0.1:5353', '[::1]:54', '2001:db8::53'], trustAd: false })();
  t.same(
    places.map(({ address, port }) => [address, port]),
    [
      ['127.0.0.1', 5353],
      ['::1', 54],
      ['2001:db8::53', 53],
    ],
  );
});
