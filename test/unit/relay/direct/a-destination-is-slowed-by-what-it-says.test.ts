import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { Pace } from '../../../../src/relay/direct/pace.js';
import { say } from '../../../support/smarthost/smarthost-script.js';
import { delivererTo, deliverOne, host, routeTo, startHosts, withOneHost } from './with-hosts.js';

const BUSY = say('451 4.7.0 Too many messages, slow down');

t.test('a 4xx that speaks of rate makes the domain rest; others of it cost no attempt', async t => {
  const { server, deliverer } = await withOneHost(t, { script: { mail: BUSY } });
  t.equal(deliverer.limitOf('elsewhere.example'), 10);
  t.match(await deliverOne(deliverer), { state: 'later', isThrottled: true });
  t.equal(deliverer.limitOf('elsewhere.example'), 0);
  const { length } = server.sessions[0]!.lines;
  const { retryAfterMs = 0, host } = await deliverOne(deliverer);
  t.ok(retryAfterMs > 50_000 && retryAfterMs <= 60_000, `${retryAfterMs} ms`);
  t.equal(host, null);
  t.same([server.sessions.length, server.sessions[0]!.lines.length], [1, length], 'the server heard nothing');
});

t.test('a host that asks for it rests for all domains that lead there alone', async t => {
  const { servers, port } = await startHosts(t, [
    { script: { greeting: say('421 4.7.0 Too many connections') } },
    {},
  ]);
  const shared = host('mx.shared.test', '127.0.0.1');
  const deliverer = delivererTo(t, port, domain =>
    domain === 'both.example' ? routeTo(shared, host('mx2.test', '127.0.0.2')) : routeTo(shared),
  );
  t.match(await deliverOne(deliverer, { domain: 'a.example' }), { state: 'later', isThrottled: true });
  t.ok((await deliverOne(deliverer, { domain: 'b.example' })).retryAfterMs);
  t.equal(deliverer.limitOf('b.example'), 0, 'and its others wait');
  t.match(await deliverOne(deliverer, { domain: 'both.example' }), { state: 'delivered', host: 'mx2.test' });
  t.equal(servers[0]!.sessions.length, 1);
});

t.test('after its rest a domain has half as much at a time, and more with each success', async t => {
  let raised = 0;
  const { server, deliverer } = await withOneHost(t, { script: { rcpt: BUSY } }, { maxPerDomain: 4 });
  const paced = delivererTo(
    t,
    server.port,
    routeTo(host('mx.elsewhere.example', '127.0.0.1')),
    {
      maxPerDomain: 4,
    },
    { firstMs: 30, longestMs: 60, onFaster: () => raised++ },
  );
  t.match(await deliverOne(paced), { isThrottled: true });
  t.equal(paced.limitOf('elsewhere.example'), 0);
  t.equal(deliverer.limitOf('elsewhere.example'), 4, 'the other deliverer heard nothing');
  // Its rest ends by the clock, and a timer tells: either may come first.
  while (paced.limitOf('elsewhere.example') === 0 || raised === 0) await delay(10);
  t.ok(raised > 0);
  t.equal(paced.limitOf('elsewhere.example'), 2);
  server.script = {};
  t.match(await deliverOne(paced), { state: 'delivered' });
  t.equal(paced.limitOf('elsewhere.example'), 3);
  t.match(await deliverOne(paced), { state: 'delivered' });
  t.equal(paced.limitOf('elsewhere.example'), 4);
});

t.test('what many hear at once counts once, and destinations are remembered within a bound', async t => {
  const pace = new Pace({
    usual: 8,
    maxKnown: 100,
    firstMs: 60_000,
    longestMs: 60_000,
    onFaster: () => undefined,
  });
  t.teardown(() => pace.close());
  for (let n = 0; n < 5_000; n++) pace.slower(`d${n}.example`);
  t.equal(pace.size, 100);
  t.equal(pace.limitOf('d0.example'), 8, 'the oldest is forgotten');
  for (let n = 0; n < 10; n++) pace.slower('d4999.example');
  t.ok(pace.restOf('d4999.example') <= 60_000);
});
