import t from 'tap';
import { configWarnings } from '../../../src/config/config-warnings.js';
import { loaded, MINIMUM, problemsOf } from './load.js';

const direct = (lines: string) => ({ toml: `${MINIMUM}[relay.direct]\n${lines}\n` });
const dns = (lines: string) => ({ toml: `${MINIMUM}[dns]\n${lines}\n` });

t.test('at most one source address of each family', async t => {
  t.match(problemsOf(direct('source_address = ["192.0.2.1", "192.0.2.2"]')), [/more than one IPv4 address/]);
  t.match(problemsOf(direct('source_address = ["2001:db8::1", "2001:db8::2"]')), [/more than one IPv6/]);
  const { sourceAddress } = loaded(direct('source_address = ["192.0.2.1", "2001:DB8::1"]')).relay.direct;
  t.same(sourceAddress, ['192.0.2.1', '2001:db8::1']);
  t.match(problemsOf(direct('source_address = ["localhost"]')), [/is not an IP address/]);
});

t.test('an IPv6 source address without IPv6 is of no use', async t => {
  t.match(problemsOf(direct('source_address = ["2001:db8::1"]\nipv6 = "off"')), [
    /is "off", which does not use it/,
  ]);
  t.equal(loaded(direct('source_address = ["2001:db8::1"]\nipv6 = "on"')).relay.direct.ipv6, 'on');
});

t.test('networks that are allowed are networks', async t => {
  t.same(loaded(direct('allow_networks = ["10.0.0.0/8", "::1"]')).relay.direct.allowNetworks, [
    '10.0.0.0/8',
    '::1',
  ]);
  t.match(problemsOf(direct('allow_networks = ["10.0.0.0/33"]')), [/has no valid prefix length/]);
});

t.test('resolvers are addresses, with a port or without, three at most', async t => {
  const servers = ['127.0.0.1:5353', '[::1]:53', '2001:db8::53'];
  t.same(loaded(dns(`servers = ${JSON.stringify(servers)}`)).dns.servers, servers);
  for (const wrong of [
    'localhost',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '127.0.0.1:',
    '[127.0.0.1]:53',
    '[::1]',
  ]) {
    t.equal(problemsOf(dns(`servers = ["${wrong}"]`)).length, 1, wrong);
  }
  t.match(problemsOf(dns('servers = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]')), [
    /names 4 resolvers/,
  ]);
});

t.test('to believe whatever resolver the system names is probably not meant', async t => {
  const warnings = (lines: string) => configWarnings(loaded(dns(lines))).map(({ where }) => where);
  t.same(warnings('trust_ad = true'), ['dns.trust_ad']);
  t.same(warnings('trust_ad = true\nservers = ["192.0.2.53"]'), []);
});
