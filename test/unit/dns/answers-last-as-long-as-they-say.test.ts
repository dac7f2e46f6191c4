import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { AnswerCache, type KeptAnswer } from '../../../src/dns/answer-cache.js';
import { withDns } from './with-dns.js';

t.test('an answer is kept for its TTL, and that there is none for that of the zone', async t => {
  const { dns, server } = await withDns(t, {
    'kept.test': { A: ['192.0.2.1'], ttl: 600 },
    'short.test': { A: ['192.0.2.1'] },
  });
  for (const name of ['kept.test', 'short.test']) {
    for (let time = 0; time < 3; time++) await dns.lookup(name, 'A');
  }
  t.equal(server.timesAsked('kept.test'), 1);
  t.equal(server.timesAsked('short.test'), 3, 'a TTL of zero is kept not at all');
  for (let time = 0; time < 3; time++) t.match(await dns.lookup('kept.test', 'MX'), { kind: 'none' });
  t.equal(server.timesAsked('kept.test', 'MX'), 1);
});

t.test('the least TTL on the way counts', async t => {
  const { dns, server } = await withDns(t, {
    'alias.test': { CNAME: 'host.test' },
    'host.test': { A: ['192.0.2.1'], ttl: 600 },
  });
  await dns.lookup('alias.test', 'A');
  await dns.lookup('alias.test', 'A');
  t.equal(server.timesAsked('alias.test'), 2);
});

t.test('a failure is never kept', async t => {
  const { dns, server } = await withDns(t, { 'a.test': { fault: 'servfail', ttl: 600 } });
  t.match(await dns.lookup('a.test', 'A'), { kind: 'failed' });
  server.set('a.test', { A: ['192.0.2.1'] });
  t.match(await dns.lookup('a.test', 'A'), { kind: 'found' });
});

t.test('who asks for the same at once is answered by one question', async t => {
  const { dns, server } = await withDns(t, { 'a.test': { A: ['192.0.2.1'] } });
  await Promise.all(Array.from({ length: 50 }, () => dns.lookup('a.test', 'A')));
  t.equal(server.timesAsked('a.test'), 1);
});

const answer = { kind: 'none', isAuthentic: false } as const;

/** A cache, and what it answers to a question without asking anybody. */
function cacheOf(maxBytes: number) {
  const cache = new AnswerCache(maxBytes);
  const obtain = (name: string, kept: KeptAnswer) =>
    cache.obtain({ name, type: 'A', party: '' }, async () => kept);
  return {
    put: (name: string, ttlS: number, replyBytes: number) => obtain(name, { answer, ttlS, replyBytes }),
    get: (name: string) => {
      const known = obtain(name, { answer: { kind: 'failed', reason: 'asked' }, ttlS: 0, replyBytes: 0 });
      return known instanceof Promise ? undefined : known;
    },
  };
}

t.test('memory has a bound, and the oldest goes', async t => {
  const cache = cacheOf(10_000);
  for (let at = 0; at < 1_000; at++) await cache.put(`n${at}.test`, 600, 100);
  const kept = Array.from({ length: 1_000 }, (_, at) => at).filter(at => cache.get(`n${at}.test`));
  t.same(
    kept,
    Array.from({ length: 20 }, (_, at) => 980 + at),
    '500 bytes each',
  );
  await cache.put('large.test', 600, 20_000);
  t.equal(cache.get('large.test'), undefined);
  t.equal(cache.get('n999.test')?.answer, answer);
});

t.test('what has expired is gone', async t => {
  const cache = cacheOf(10_000);
  await cache.put('a.test', 0.02, 100);
  t.ok(cache.get('a.test'));
  await delay(40);
  t.equal(cache.get('a.test'), undefined);
});
