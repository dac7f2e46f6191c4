import fc from 'fast-check';
import t from 'tap';
import { inNetworks, isSameAddress, Reach, reverseName } from '../../../../src/domain/networks.js';

const open = new Reach([]);

t.test('public addresses may be reached', async t => {
  for (const address of ['8.8.8.8', '172.32.0.1', '192.0.3.1', '2a00:1450:4010::1a', '2606:4700::1111']) {
    t.equal(open.faultOf(address), null, address);
  }
});

t.test('this machine, private, link-local, shared and reserved networks may not', async t => {
  const refused = [
    ['127.0.0.1', 'is of this machine'],
    ['127.255.255.254', 'is of this machine'],
    ['0.0.0.0', 'is of this machine'],
    ['0.1.2.3', 'is of this machine'],
    ['::1', 'is of this machine'],
    ['::', 'is of this machine'],
    ['10.0.0.1', 'is private'],
    ['172.16.0.1', 'is private'],
    ['172.31.255.255', 'is private'],
    ['192.168.1.1', 'is private'],
    ['fd00::1', 'is private'],
    ['fec0::1', 'is private'],
    ['169.254.169.254', 'is link-local'],
    ['fe80::1', 'is link-local'],
    ['100.64.0.1', 'is shared by the customers of a carrier'],
    ['100.127.255.255', 'is shared by the customers of a carrier'],
    ['224.0.0.1', 'is multicast or broadcast'],
    ['255.255.255.255', 'is multicast or broadcast'],
    ['ff02::1', 'is multicast or broadcast'],
    ['192.0.2.1', 'is reserved'],
    ['198.18.0.1', 'is reserved'],
    ['198.51.100.1', 'is reserved'],
    ['203.0.113.1', 'is reserved'],
    ['240.0.0.1', 'is reserved'],
    ['2001:db8::1', 'is reserved'],
    ['2001::1', 'is reserved'],
    ['2002:a00:1::1', 'is reserved'],
    ['3fff::1', 'is reserved'],
    ['64:ff9b:1::a00:1', 'is reserved'],
    ['100::1', 'is reserved'],
    ['4000::1', 'is reserved'],
  ] as const;
  for (const [address, fault] of refused) t.equal(open.faultOf(address), fault, address);
});

t.test('an IPv4 address within an IPv6 address is judged as what it is', async t => {
  for (const prefix of ['::ffff:', '::', '::ffff:0:', '64:ff9b::']) {
    t.equal(open.faultOf(`${prefix}10.0.0.1`), 'is private', prefix);
    t.equal(open.faultOf(`${prefix}7f00:1`), 'is of this machine', prefix);
    t.equal(open.faultOf(`${prefix}a9fe:a9fe`), 'is link-local', prefix);
    t.equal(open.faultOf(`${prefix}808:808`), null, prefix);
  }
});

t.test('what is no address, or one of a certain interface, is refused', async t => {
  for (const text of ['', 'localhost', '1.2.3', '010.0.0.1', 'fe80::1%eth0', '2a00::1%1', '0x7f000001']) {
    t.equal(open.faultOf(text), 'is no address that can be reached', text);
  }
});

t.test('networks that the operator lists may be reached, and those alone', async t => {
  const reach = new Reach(['10.1.2.0/24', '127.0.0.1', 'fd00:1::/32']);
  for (const address of ['10.1.2.3', '127.0.0.1', 'fd00:1::5', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3']) {
    t.equal(reach.faultOf(address), null, address);
  }
  for (const address of ['10.1.3.1', '127.0.0.2', 'fd00:2::5', '::ffff:10.1.3.1']) {
    t.not(reach.faultOf(address), null, address);
  }
});

t.test('all of IPv6 is nothing of IPv4', async t => {
  const reach = new Reach(['::/0']);
  t.equal(reach.faultOf('fd00::1'), null);
  t.equal(reach.faultOf('10.0.0.1'), 'is private');
});

t.test('an IPv4 network that is written as IPv6 is the same network', async t => {
  const isIn = inNetworks(['::ffff:10.0.0.0/104', '::ffff:192.0.2.1']);
  t.same(['10.1.2.3', '192.0.2.1', '11.0.0.1', '192.0.2.2'].map(isIn), [true, true, false, false]);
});

t.test('every spelling of an address is judged alike', async () => {
  const address = fc.ipV6();
  fc.assert(
    fc.property(address, text => {
      const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
      return (
        isSameAddress(text, canonical) &&
        open.faultOf(text) === open.faultOf(canonical) &&
        reverseName(text) === reverseName(canonical)
      );
    }),
    { numRuns: 2_000 },
  );
});

t.test('the names of PTR records', async t => {
  t.equal(reverseName('192.0.2.5'), '5.2.0.192.in-addr.arpa');
  t.equal(
    reverseName('2001:db8::567:89ab'),
    'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
  );
});
