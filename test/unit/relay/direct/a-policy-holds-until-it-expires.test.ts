import type { Test } from 'tap';
import t from 'tap';
import { DnsClient } from '../../../../src/dns/dns-client.js';
import type { StsPolicy } from '../../../../src/domain/mta-sts.js';
import type { FetchedPolicy } from '../../../../src/relay/direct/fetch-policy.js';
import { StsPolicies, type StsPolicyShelf } from '../../../../src/relay/direct/sts-policies.js';
import { putStsPolicy, stsPoliciesTable, stsShelf } from '../../../../src/store/records/sts-policies.js';
import { startDnsServer, type ZoneEntry } from '../../../support/dns/dns-server.js';
import { recordingLog } from '../../../support/redis/redis.js';
import { withStore } from '../../store/with-store.js';
import { namesOf, withRoutes } from './with-routes.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function withPolicies(t: Test, shelf?: StsPolicyShelf) {
  const kept = shelf ?? stsShelf(await withStore(t));
  const server = await startDnsServer(t);
  const dns = new DnsClient({ servers: [server.address], trustAd: false });
  t.teardown(() => dns.close());
  const log = recordingLog();
  const world = { now: 1_700_000_000_000, fetched: 0, answer: policy('enforce', 7 * DAY) };
  const fetch = async (): Promise<FetchedPolicy> => {
    world.fetched++;
    return world.answer;
  };
  const make = () => new StsPolicies({ dns, shelf: kept, fetch, clock: () => world.now, log });
  const announce = (id: string | null, fault?: ZoneEntry['fault']) =>
    server.set('_mta-sts.example.com', {
      ...(id === null ? {} : { TXT: [`v=STSv1; id=${id};`] }),
      ...(fault === undefined ? {} : { fault }),
    });
  return { world, announce, make, policies: make(), log, server };
}

function policy(mode: StsPolicy['mode'], maxAgeMs: number): FetchedPolicy {
  return { ok: true, policy: { mode, mx: ['mx.example.com'], maxAgeS: maxAgeMs / 1000 } };
}

t.test('a policy is fetched once, and again when another is announced', async t => {
  const { world, announce, policies } = await withPolicies(t);
  t.equal(await policies.policyOf('example.com'), null);
  announce('1');
  t.match(await policies.policyOf('example.com'), { id: '1', mode: 'enforce', mx: ['mx.example.com'] });
  await policies.policyOf('example.com');
  t.equal(world.fetched, 1);
  announce('2');
  world.answer = policy('none', DAY);
  t.match(await policies.policyOf('example.com'), { id: '2', mode: 'none' });
  t.equal(world.fetched, 2);
});

t.test('it holds whatever the DNS says meanwhile, also after a restart', async t => {
  const { world, announce, make, policies } = await withPolicies(t);
  announce('1');
  await policies.policyOf('example.com');
  for (const begin of [() => announce(null), () => announce(null, 'servfail')]) {
    begin();
    t.match(await make().policyOf('example.com'), { id: '1', mode: 'enforce' });
  }
  world.now += 8 * DAY;
  t.equal(await make().policyOf('example.com'), null, 'until it expires');
});

t.test('it holds while another cannot be fetched, which is not tried at every message', async t => {
  const { world, announce, policies, log } = await withPolicies(t);
  announce('1');
  await policies.policyOf('example.com');
  announce('2');
  world.answer = { ok: false, reason: 'no answer' };
  for (let time = 0; time < 5; time++) t.match(await policies.policyOf('example.com'), { id: '1' });
  t.equal(world.fetched, 2);
  t.equal(log.matching(/could not be fetched/).length, 1);
});

t.test('one that could never be fetched is none', async t => {
  const { world, announce, policies } = await withPolicies(t);
  announce('1');
  world.answer = { ok: false, reason: 'no answer' };
  t.equal(await policies.policyOf('example.com'), null);
});

t.test('every day it is fetched again, so that it does not expire while mail goes there', async t => {
  const { world, announce, policies } = await withPolicies(t);
  announce('1');
  await policies.policyOf('example.com');
  world.now += DAY + 1;
  const renewed = await policies.policyOf('example.com');
  t.same([renewed?.expiresAt, world.fetched], [world.now + 7 * DAY, 2]);
});

t.test('many messages at once have it fetched once', async t => {
  const { world, announce, policies } = await withPolicies(t);
  announce('1');
  await Promise.all(Array.from({ length: 20 }, () => policies.policyOf('example.com')));
  t.equal(world.fetched, 1);
});

t.test('a store that takes nothing keeps mail from nobody', async t => {
  const shelf = { get: () => undefined, put: () => Promise.reject(new Error('full')) };
  const { announce, policies, log } = await withPolicies(t, shelf);
  announce('1');
  t.match(await policies.policyOf('example.com'), { id: '1', mode: 'enforce' });
  t.equal(log.matching(/could not be kept/).length, 1);
});

t.test('the store keeps a bounded number, and lets go of the one that was fetched longest ago', async t => {
  const store = await withStore(t);
  await store.write(writer => {
    for (let at = 0; at < 12; at++) {
      const one = {
        id: '1',
        mode: 'enforce',
        mx: ['a.test'],
        fetchedAt: 1000 - at,
        expiresAt: 2000,
      } as const;
      putStsPolicy(writer, `d${at}.test`, one, 10);
    }
  });
  const domains = store.read(reader =>
    reader
      .scanKeys(stsPoliciesTable, { from: Buffer.from('d'), to: Buffer.from('e'), limit: 100 })
      .map(String),
  );
  t.equal(domains.length, 10);
  t.ok(domains.includes('d11.test') && domains.includes('d0.test'));
  t.notOk(domains.includes('d9.test') || domains.includes('d10.test'));
});

t.test('enforce: certificates are verified, and only hosts that the policy names are used', async t => {
  const zones = {
    'example.com': {
      MX: [
        [5, 'evil.example.net'],
        [10, 'mx.example.com'],
      ],
    },
    'evil.example.net': { A: ['8.8.8.1'] },
    'mx.example.com': { A: ['8.8.8.2'] },
  } as const;
  const with_ = async (mode: StsPolicy['mode'], mx: string[]) => {
    const one = { id: '1', mode, mx, fetchedAt: 0, expiresAt: 0 };
    const policies = { policyOf: () => Promise.resolve(one), keptFor: () => one };
    return (await withRoutes(t, zones, { policies, tls: 'require' })).routes.find('example.com');
  };
  const enforced = await with_('enforce', ['mx.example.com']);
  t.match(enforced, { tls: 'verify' });
  t.same(namesOf(enforced), ['mx.example.com']);
  t.match(await with_('enforce', ['other.test']), { kind: 'later', code: '4.7.5' });
  const testing = await with_('testing', ['mx.example.com']);
  t.match(testing, { tls: 'require' });
  t.same(namesOf(testing), ['evil.example.net', 'mx.example.com']);
  t.match(await with_('none', []), { tls: 'require' });
});

t.test('a policy host that never answers does not hold up mail', async t => {
  const policies = { policyOf: () => new Promise<never>(() => undefined), keptFor: () => null };
  const zones = { 'example.com': { A: ['8.8.8.1'] } };
  const { routes } = await withRoutes(t, zones, { policies, deadlineMs: 600 });
  t.match(await routes.find('example.com'), { kind: 'hosts', tls: 'opportunistic' });
});
