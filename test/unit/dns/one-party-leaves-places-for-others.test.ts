import t from 'tap';
import { MAX_OPEN } from '../../../src/dns/dns-client.js';
import { withDns } from './with-dns.js';

const silent = Array.from({ length: 2 * MAX_OPEN }, (_, at) => `n${at}.silent.test`);
const zones = {
  ...Object.fromEntries(silent.map(name => [name, { fault: 'silent' } as const])),
  'a.test': { A: ['192.0.2.1'] },
};
const times = { tryMs: 2_000, totalMs: 3_000 };

t.test('a party that asks about silent names has a share of the places', async t => {
  const { dns, server } = await withDns(t, zones, { times, shares: { perParty: 5, turnMs: 200 } });
  const asked = silent.map(name => dns.lookupLasting(name, 'A', 'evil'));
  t.match(await dns.lookupLasting('a.test', 'A', 'good'), { answer: { kind: 'found' } });
  t.ok(server.asked.length <= 6, 'of one party only its share is asked at a time');
  const beyond = await Promise.race(asked.slice(5));
  t.match(beyond.answer, { kind: 'failed' }, 'whose turn does not come has failed');
  t.match(
    await dns.lookupLasting(silent[0]!.toUpperCase(), 'A', 'evil'),
    { answer: { kind: 'failed' } },
    'who asks for the same waits with it',
  );
});

t.test('what one party waits for in vain another may ask', async t => {
  const { dns, server } = await withDns(t, zones, { times, shares: { perParty: 1, turnMs: 500 } });
  void dns.lookupLasting(silent[0]!, 'A', 'evil');
  const behind = dns.lookupLasting('a.test', 'A', 'evil');
  t.match(await dns.lookupLasting('a.test', 'A', 'good'), { answer: { kind: 'found' } });
  t.equal(server.timesAsked('a.test'), 1);
  t.match(await behind, { answer: { kind: 'failed' } });
});
