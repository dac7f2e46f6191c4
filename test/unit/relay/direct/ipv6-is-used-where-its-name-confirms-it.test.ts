import t from 'tap';
import { reverseName } from '../../../../src/domain/networks.js';
import { addressesOf, withRoutes } from './with-routes.js';

const OURS = '2a00:1::25';
const both = { A: ['8.8.8.1'], AAAA: ['2a00:2::1'] };
const zones = (ptr: object) => ({ 'example.com': both, 'six.test': { AAAA: ['2a00:2::2'] }, ...ptr });

t.test('auto: the PTR of our address names a host that has it', async t => {
  const confirmed = { [reverseName(OURS)]: { PTR: ['mail.ours.test'] }, 'mail.ours.test': { AAAA: [OURS] } };
  const { routes, server } = await withRoutes(t, zones(confirmed), { ipv6: 'auto', sourceAddress: [OURS] });
  t.same(addressesOf(await routes.find('example.com')), ['2a00:2::1', '8.8.8.1'], 'each family in turn');
  t.same(addressesOf(await routes.find('six.test')), ['2a00:2::2']);
  t.equal(server.timesAsked(reverseName(OURS)), 1, 'this is asked now and then, not for each route');
});

t.test('auto: without such a name only IPv4 is used', async t => {
  for (const ptr of [
    {},
    { [reverseName(OURS)]: { PTR: ['mail.ours.test'] } },
    { [reverseName(OURS)]: { PTR: ['mail.ours.test'] }, 'mail.ours.test': { AAAA: ['2a00:1::26'] } },
  ]) {
    const { routes } = await withRoutes(t, zones(ptr), { ipv6: 'auto', sourceAddress: [OURS] });
    t.same(addressesOf(await routes.find('example.com')), ['8.8.8.1']);
    t.match(await routes.find('six.test'), { kind: 'none', code: '5.4.4', detail: /has no IPv4 address/ });
  }
});

t.test(
  'auto: when that cannot be looked up only IPv4 is used, and what has no IPv4 is for later',
  async t => {
    const unsure = {
      ...zones({ [reverseName(OURS)]: { fault: 'servfail' } }),
      'bare.test': { TXT: ['none'] },
    };
    const { routes } = await withRoutes(t, unsure, { ipv6: 'auto', sourceAddress: [OURS] });
    t.same(addressesOf(await routes.find('example.com')), ['8.8.8.1']);
    t.match(await routes.find('six.test'), { kind: 'later', code: '4.4.3' });
    t.match(await routes.find('bare.test'), { kind: 'none', code: '5.4.4' }, 'it has no IPv6 address either');
  },
);

t.test('on and off do as they say', async t => {
  const on = await withRoutes(t, zones({}), { ipv6: 'on' });
  t.same(addressesOf(await on.routes.find('example.com')), ['2a00:2::1', '8.8.8.1']);
  const off = await withRoutes(t, zones({}), { ipv6: 'off' });
  t.same(addressesOf(await off.routes.find('example.com')), ['8.8.8.1']);
});
