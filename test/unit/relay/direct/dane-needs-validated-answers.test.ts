import t from 'tap';
import type { ZoneEntry } from '../../../support/dns/dns-server.js';
import { withRoutes } from './with-routes.js';

const tlsa = { usage: 3, selector: 1, matchingType: 1, data: Uint8Array.from({ length: 32 }, (_, at) => at) };
const signed: Record<string, ZoneEntry> = {
  'example.com': { MX: [[10, 'mx.example.com']], isSigned: true },
  'mx.example.com': { A: ['8.8.8.1'], isSigned: true },
  '_25._tcp.mx.example.com': { TLSA: [tlsa], isSigned: true },
};

async function daneOf(t: Parameters<typeof withRoutes>[0], changes: Record<string, ZoneEntry>, port = 25) {
  const { routes, server } = await withRoutes(t, { ...signed, ...changes }, { port });
  const route = await routes.find('example.com');
  return { route, dane: route.kind === 'hosts' ? route.hosts[0]?.dane : route, server };
}

t.test('TLSA records bind a host when MX, addresses and TLSA were validated', async t => {
  t.same((await daneOf(t, {})).dane, [tlsa]);
});

t.test('they stand under the port that is used', async t => {
  const changes = { '_2525._tcp.mx.example.com': { TLSA: [tlsa, tlsa], isSigned: true } };
  t.same((await daneOf(t, changes, 2525)).dane, [tlsa, tlsa]);
});

t.test('where one of the three was not validated, DANE is not in play', async t => {
  for (const name of Object.keys(signed)) {
    const { dane } = await daneOf(t, { [name]: { ...signed[name], isSigned: false } });
    t.equal(dane, null, name);
  }
  const { server } = await daneOf(t, { 'example.com': { ...signed['example.com'], isSigned: false } });
  t.equal(server.timesAsked('_25._tcp.mx.example.com'), 0, 'and TLSA records are not asked for');
});

t.test('without TLSA records there is none', async t => {
  t.equal((await daneOf(t, { '_25._tcp.mx.example.com': { isSigned: true } })).dane, null);
});

t.test('a failure does not pass for absence: the host waits', async t => {
  const { route } = await daneOf(t, { '_25._tcp.mx.example.com': { fault: 'servfail' } });
  t.match(route, { kind: 'later', code: '4.4.3', detail: /TLSA records of mx\.example\.com/ });
});

t.test('where the host is an alias, its records stand at either end', async t => {
  const alias = {
    'mx.example.com': { CNAME: 'real.example.net', isSigned: true },
    'real.example.net': { A: ['8.8.8.1'], isSigned: true },
  };
  t.same((await daneOf(t, alias)).dane, [tlsa], 'at the alias');
  const other = { ...tlsa, selector: 0 };
  const atEnd = { '_25._tcp.real.example.net': { TLSA: [other], isSigned: true } };
  t.same((await daneOf(t, { ...alias, ...atEnd })).dane, [other], 'first where the alias leads');
});

t.test('a domain without MX records is bound by its own', async t => {
  const { routes } = await withRoutes(t, {
    'bare.test': { A: ['8.8.8.1'], isSigned: true },
    '_25._tcp.bare.test': { TLSA: [tlsa], isSigned: true },
  });
  t.match(await routes.find('bare.test'), { kind: 'hosts', hosts: [{ dane: [tlsa] }] });
});
