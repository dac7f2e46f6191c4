import t from 'tap';
import { clientNetwork, clientNetworks } from '../../../../src/domain/addresses.js';
import { Shares } from '../../../../src/smtp/connection-limits.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

t.test('an IPv6 client is its /64, an IPv4 client its address', async t => {
  t.equal(clientNetwork('192.0.2.1'), '192.0.2.1');
  t.equal(clientNetwork('::ffff:192.0.2.1'), '192.0.2.1');
  t.equal(clientNetwork('2001:db8:1:2::1'), '2001:db8:1:2::/64');
  t.equal(clientNetwork('2001:0DB8:1:2:ffff:1:2:3'), '2001:db8:1:2::/64');
  t.equal(clientNetwork('2001:db8::1'), '2001:db8:0:0::/64');
  t.equal(clientNetwork('::1'), '0:0:0:0::/64');
  t.equal(clientNetwork('fe80::1%eth0'), 'fe80:0:0:0::/64');
  t.equal(clientNetwork('64:ff9b::192.0.2.1'), '64:ff9b:0:0::/64');
});

t.test('its site is a /48 or a /24; an address of this machine stands for itself', async t => {
  t.equal(clientNetworks('192.0.2.1').site, '192.0.2.0/24');
  t.equal(clientNetworks('::ffff:192.0.2.1').site, '192.0.2.0/24');
  t.equal(clientNetworks('2001:DB8:1:2::1').site, '2001:db8:1::/48');
  t.equal(clientNetworks('2001:db8::1').site, '2001:db8:0::/48');
  t.same(clientNetworks('127.0.0.5'), { host: '127.0.0.5', site: '127.0.0.5' });
});

t.test('what has been taken is counted until it is released', async t => {
  const shares = new Shares({ maxClients: 100, maxClientsPerAddress: 2 });
  const client = clientNetworks('192.0.2.1');
  t.equal(shares.claim(client, 0), 'own');
  shares.take(client);
  shares.take(client);
  t.equal(shares.claim(client, 0), 'too_many_from_address');
  t.equal(shares.claim(clientNetworks('192.0.2.2'), 0), 'own');
  shares.release(client);
  t.equal(shares.total, 1);
  t.equal(shares.claim(client, 0), 'own');
});

t.test('too many from one address are told so, and one that leaves makes room', async t => {
  const { port, listener } = await withListener(t, { maxClientsPerAddress: 2 });
  const first = await SmtpClient.ready(port);
  await SmtpClient.ready(port);
  const third = await SmtpClient.connect(port);
  t.equal((await third.expect(421)).enhanced, '4.7.0');
  await third.closed();
  t.equal(listener.stats().refusals.too_many_from_address, 1);
  await first.close();
  let isIn = false;
  while (!isIn) isIn = (await (await SmtpClient.connect(port)).expect(220, 421)).code === 220;
  t.equal(listener.stats().connections, 2);
});

t.test('and so are too many in all', async t => {
  const { port, listener } = await withListener(t, { maxClients: 1 });
  await SmtpClient.ready(port);
  const second = await SmtpClient.connect(port);
  t.equal((await second.expect(421)).enhanced, '4.3.2');
  await second.closed();
  t.equal(listener.stats().refusals.too_many_clients, 1);
});
