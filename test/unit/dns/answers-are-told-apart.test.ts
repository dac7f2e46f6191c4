import t from 'tap';
import { IMPATIENT, withDns } from './with-dns.js';

const tlsa = { usage: 3, selector: 1, matchingType: 1, data: Uint8Array.from({ length: 32 }, (_, at) => at) };

t.test('records of every type are read', async t => {
  const long = 'k'.repeat(700);
  const { dns } = await withDns(t, {
    'example.com': {
      MX: [
        [10, 'MX.Example.com'],
        [0, ''],
      ],
      A: ['192.0.2.1', '192.0.2.2'],
      AAAA: ['2001:db8::1'],
      TXT: ['v=spf1 -all', long],
    },
    '1.2.0.192.in-addr.arpa': { PTR: ['Mail.Example.com'] },
    '_25._tcp.mx.example.com': { TLSA: [tlsa] },
  });
  const recordsOf = async (name: string, type: 'A' | 'AAAA' | 'MX' | 'PTR' | 'TLSA' | 'TXT') => {
    const answer = await dns.lookup(name, type);
    return answer.kind === 'found' ? answer.records : answer;
  };
  t.same(await recordsOf('example.com', 'MX'), [
    { preference: 10, exchange: 'mx.example.com' },
    { preference: 0, exchange: '' },
  ]);
  t.same(await recordsOf('EXAMPLE.com.', 'A'), ['192.0.2.1', '192.0.2.2']);
  t.same(await recordsOf('example.com', 'AAAA'), ['2001:db8::1']);
  t.same(await recordsOf('example.com', 'TXT'), ['v=spf1 -all', long], 'strings of a record are one');
  t.same(await recordsOf('1.2.0.192.in-addr.arpa', 'PTR'), ['mail.example.com']);
  t.same(await recordsOf('_25._tcp.mx.example.com', 'TLSA'), [tlsa]);
});

t.test('no such records, no such name and no answer are three things', async t => {
  const { dns } = await withDns(
    t,
    {
      'example.com': { A: ['192.0.2.1'] },
      'below.only.example.com': { A: ['192.0.2.1'] },
      'broken.test': { fault: 'servfail' },
      'refused.test': { fault: 'refused' },
      'silent.test': { fault: 'silent' },
      'garbage.test': { fault: 'garbage' },
    },
    { times: IMPATIENT },
  );
  t.match(await dns.lookup('example.com', 'MX'), { kind: 'none' });
  t.match(await dns.lookup('only.example.com', 'A'), { kind: 'none' }, 'a name below it is there');
  t.match(await dns.lookup('nowhere.test', 'A'), { kind: 'no_name' });
  t.match(await dns.lookup('broken.test', 'A'), { kind: 'failed', reason: /SERVFAIL/ });
  t.match(await dns.lookup('refused.test', 'A'), { kind: 'failed', reason: /REFUSED/ });
  t.match(await dns.lookup('silent.test', 'A'), { kind: 'failed', reason: /no answer in time/ });
  t.match(await dns.lookup('garbage.test', 'A'), { kind: 'failed', reason: /cannot be read/ });
});

t.test('aliases are followed, and one without end is a failure', async t => {
  const { dns } = await withDns(t, {
    'alias.test': { CNAME: 'Second.test' },
    'second.test': { CNAME: 'host.test' },
    'host.test': { A: ['192.0.2.7'] },
    'ring.test': { CNAME: 'gnir.test' },
    'gnir.test': { CNAME: 'ring.test' },
  });
  t.match(await dns.lookup('alias.test', 'A'), { kind: 'found', records: ['192.0.2.7'], name: 'host.test' });
  t.match(await dns.lookup('alias.test', 'MX'), { kind: 'none' });
  t.match(await dns.lookup('ring.test', 'A'), { kind: 'failed', reason: /aliases/ });
});

t.test('what cannot be a name is not asked for', async t => {
  const { dns, server } = await withDns(t, {});
  for (const name of [
    '',
    '.',
    'a..b',
    'a b',
    'ä.test',
    `${'x'.repeat(64)}.test`,
    `${'x.'.repeat(130)}test`,
  ]) {
    t.match(await dns.lookup(name, 'A'), { kind: 'no_name' }, name);
  }
  t.same(server.asked, []);
});
