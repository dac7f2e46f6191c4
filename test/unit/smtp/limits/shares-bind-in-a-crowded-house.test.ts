import t from 'tap';
import { clientNetworks } from '../../../../src/domain/addresses.js';
import { type Claim, Shares } from '../../../../src/smtp/connection-limits.js';

/** A thousand places, as many of them taken as `hosts` are long; `claim` says what one more would get. */
function house(hosts: readonly string[]): (address: string) => Claim {
  const shares = new Shares({ maxClients: 1000, maxClientsPerAddress: 50 });
  for (const host of hosts) shares.take(clientNetworks(host));
  return address => shares.claim(clientNetworks(address), 0);
}

/** `count` clients, one a site. */
function strangers(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `100.${n >> 8}.${n & 255}.1`);
}

/** `count` clients of one IPv6 site, one a /64. */
function neighbours(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `2001:db8:7:${n.toString(16)}::1`);
}

t.test('while there is room, nobody asks who comes', async t => {
  const claim = house(neighbours(800));
  t.equal(claim('2001:db8:7:ffff::1'), 'own');
  t.equal(claim('2001:db8:7:1::1'), 'own');
});

t.test('over four fifths, a site that holds a quarter only exchanges its own', async t => {
  const claim = house([...neighbours(250), ...strangers(551)]);
  t.equal(claim('2001:db8:7:ffff::1'), 'exchange_in_site');
  t.equal(claim('2001:db8:8::1'), 'own');
  const provider = Array.from({ length: 250 }, (_, n) => `192.0.2.${n}`);
  t.equal(house([...provider, ...strangers(551)])('192.0.2.255'), 'exchange_in_site');
  t.equal(house([...provider.slice(1), ...strangers(552)])('192.0.2.255'), 'own');
});

t.test('the last twentieth is lent to those who hold some, and given to those who hold none', async t => {
  const almost = house(strangers(949));
  t.equal(almost('100.0.0.1'), 'own');
  const claim = house([...neighbours(1), ...strangers(949)]);
  t.equal(claim('100.0.0.1'), 'lent');
  t.equal(claim('100.0.0.2'), 'own', 'another address of that /24');
  t.equal(claim('2001:db8:7:ffff::1'), 'lent', 'but not another /64 of a /48');
  t.equal(claim('2001:db8:8::1'), 'own');
});

t.test('when all are taken, one who holds none may also have what was lent', async t => {
  const claim = house(strangers(1000));
  t.equal(claim('192.0.2.1'), 'exchange_or_lent');
  t.equal(claim('100.0.0.1'), 'exchange');
});

t.test('one address may hold more than a quarter where its cap says so', async t => {
  const shares = new Shares({ maxClients: 100, maxClientsPerAddress: 95 });
  const relay = clientNetworks('10.0.0.25');
  for (let n = 0; n < 95; n++) {
    t.equal(shares.claim(relay, 0), 'own');
    shares.take(relay);
  }
  t.equal(shares.claim(relay, 0), 'too_many_from_address');
});

t.test('a small house has shares, too, but room for its first clients', async t => {
  const shares = new Shares({ maxClients: 2, maxClientsPerAddress: 2 });
  const client = clientNetworks('192.0.2.1');
  for (let n = 0; n < 2; n++) {
    t.equal(shares.claim(client, 0), 'own');
    shares.take(client);
  }
  t.equal(shares.claim(clientNetworks('198.51.100.1'), 0), 'exchange_or_lent');
});
