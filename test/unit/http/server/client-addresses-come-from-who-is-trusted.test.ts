import t from 'tap';
import { ClientAddresses } from '../../../../src/http/server/visitors.js';

const of = (trusted: readonly string[], peer: string | undefined, forwarded?: string) =>
  new ClientAddresses(trusted).of({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  });

t.test('the peer, unless it is a trusted proxy', async t => {
  t.equal(of([], '192.0.2.1'), '192.0.2.1');
  t.equal(of([], '::ffff:192.0.2.1'), '192.0.2.1');
  t.equal(of([], '192.0.2.1', '203.0.113.5'), '192.0.2.1');
  t.equal(of(['10.0.0.0/8'], '192.0.2.1', '203.0.113.5'), '192.0.2.1');
  t.equal(of(['10.0.0.0/8'], '10.1.2.3', '203.0.113.5'), '203.0.113.5');
  t.equal(of(['10.0.0.0/8'], '::ffff:10.1.2.3', '203.0.113.5'), '203.0.113.5');
  t.equal(of(['fd00::/8', '::1'], '::1', '2001:DB8::1'), '2001:db8::1');
  t.equal(of([], undefined), 'unknown');
});

t.test('the last hop that is no trusted proxy', async t => {
  const trusted = ['10.0.0.0/8', '127.0.0.1'];
  t.equal(of(trusted, '127.0.0.1', '1.1.1.1, 203.0.113.5, 10.0.0.7'), '203.0.113.5');
  t.equal(of(trusted, '127.0.0.1', '1.1.1.1,203.0.113.5'), '203.0.113.5');
  t.equal(of(trusted, '127.0.0.1', '10.0.0.8, 10.0.0.7'), '10.0.0.8', 'all of them trusted: the first');
});

t.test('a hop that is no address ends the walk at the proxy that wrote it', async t => {
  const trusted = ['10.0.0.0/8', '127.0.0.1'];
  for (const hop of ['', 'unknown', '_hidden', '1.2.3', '<script>', '203.0.113.5 evil', '999.1.1.1']) {
    t.equal(of(trusted, '127.0.0.1', `203.0.113.5, ${hop}`), '127.0.0.1', hop);
    t.equal(of(trusted, '127.0.0.1', `203.0.113.5, ${hop}, 10.0.0.7`), '10.0.0.7', hop);
  }
  t.equal(of(trusted, '127.0.0.1'), '127.0.0.1', 'no header at all');
});

t.test('ports, brackets and zones are no part of an address', async t => {
  const trusted = ['127.0.0.1'];
  for (const [hop, address] of [
    ['203.0.113.5:4711', '203.0.113.5'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:203.0.113.5', '203.0.113.5'],
  ] as const) {
    t.equal(of(trusted, '127.0.0.1', hop), address, hop);
  }
});
