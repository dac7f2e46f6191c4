import { Socket } from 'node:net';
import t from 'tap';
import { DnsClient } from '../../../src/dns/dns-client.js';
import { Reach } from '../../../src/domain/networks.js';
import { newWebhookSecret } from '../../../src/domain/secrets.js';
import { faultOf } from '../../../src/hooks/connect-checked.js';
import { startDnsServer, type Zones } from '../../support/dns/dns-server.js';
import { localCaller } from '../../support/webhooks/local-caller.js';
import { startReceiver } from '../../support/webhooks/receiver.js';

async function setUp(t: Parameters<typeof startReceiver>[0], zones: Zones, allowed: readonly string[] = []) {
  const receiver = await startReceiver(t);
  const server = await startDnsServer(t, zones);
  const dns = new DnsClient({ servers: [server.address], trustAd: false });
  t.teardown(() => dns.close());
  const caller = localCaller(t, { dns, reach: new Reach(allowed), timeoutMs: 2_000 });
  const call = (host: string) =>
    caller.call({
      url: `http://${host}:${receiver.port}/hook`,
      id: 'an-event',
      at: Date.now(),
      secrets: [newWebhookSecret()],
      body: '{}',
    });
  return { receiver, server, call };
}

t.test('not as a literal, in any spelling, and not by a name', async t => {
  const { receiver, call } = await setUp(t, {
    'inner.test': { A: ['10.0.0.1'] },
    'here.test': { A: ['127.0.0.1'] },
    'here6.test': { AAAA: ['::1'] },
    'mapped.test': { AAAA: ['::ffff:127.0.0.1'] },
    'translated.test': { AAAA: ['64:ff9b::7f00:1'] },
    'sixtofour.test': { AAAA: ['2002:7f00:1::1'] },
    'alias.test': { CNAME: 'here.test' },
  });
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    'localhost',
    'any.localhost',
    '10.1.2.3',
    '169.254.169.254',
    '100.64.1.1',
    '224.0.0.1',
    'inner.test',
    'here.test',
    'here6.test',
    'mapped.test',
    'translated.test',
    'sixtofour.test',
    'alias.test',
  ]) {
    t.match(await call(host), { kind: 'failed', status: null, reason: 'address_refused' }, host);
  }
  t.match(await call('nowhere.test'), { reason: 'unknown_host' });
  t.strictSame(receiver.received, []);
});

t.test('where the operator allows it', async t => {
  const { receiver, call } = await setUp(t, { 'here.test': { A: ['127.0.0.1'] } }, ['127.0.0.0/8']);
  for (const host of ['127.0.0.1', 'here.test', 'localhost'])
    t.match(await call(host), { kind: 'taken' }, host);
  t.equal(receiver.received.length, 3);
});

t.test(
  'a name that leads elsewhere a moment later is looked up once: what was checked is called',
  async t => {
    // The first of its addresses is refused; the other one is public, and nobody answers there.
    const { receiver, server, call } = await setUp(t, { 'turn.test': { A: ['192.0.2.1', '127.0.0.1'] } });
    t.match(await call('turn.test'), { reason: 'address_refused' });
    server.set('turn.test', { A: ['127.0.0.1'] });
    t.match(await call('turn.test'), { reason: 'address_refused' });
    t.equal(server.timesAsked('turn.test', 'A'), 2, 'once for each call');
    t.strictSame(receiver.received, []);
  },
);

t.test('a connection that is open is looked at too', async t => {
  const reach = new Reach([]);
  const between = (localAddress: string, remoteAddress: string) => ({ localAddress, remoteAddress });
  t.match(faultOf(reach, between('8.8.4.4', '10.0.0.1')), /private/);
  t.match(faultOf(reach, between('8.8.4.4', '8.8.4.4')), /of this machine/, 'its own public address');
  t.match(faultOf(reach, between('2606:4700::1', '2606:4700:0::1')), /of this machine/);
  t.equal(faultOf(reach, between('10.0.0.2', '8.8.4.4')), null);
  t.equal(faultOf(new Reach(['8.8.4.4']), between('8.8.4.4', '8.8.4.4')), null, 'the operator lists it');
  t.match(faultOf(reach, new Socket()), /no address/, 'it is gone already');
});
