import t from 'tap';
import { type Act, onceThat, say, stall } from '../../../support/smarthost/smarthost-script.js';
import { leftBehind } from '../smarthost/with-smarthost.js';
import { delivererTo, deliverOne, host, routeTo, startHosts, verbs, withOneHost } from './with-hosts.js';

t.test('a dot that is out gets its reply, and a message before its dot is for later at once', async t => {
  let answer = (): void => {};
  const answered = new Promise<void>(resolve => {
    answer = resolve;
  });
  const { server, deliverer } = await withOneHost(t, {
    script: {
      dot: onceThat(answered, say('250 2.0.0 OK')),
      rcpt: ({ session }) => (session === 2 ? stall : null),
    },
  });
  const out = deliverOne(deliverer);
  await server.until(() => server.submissions.length === 1);
  const before = deliverOne(deliverer);
  await server.until(() => verbs(server, 1).includes('RCPT'));
  const closed = deliverer.close(30_000);
  t.match(await before, { state: 'later', code: '4.3.2', retryAfterMs: 0 }, 'this is no attempt');
  t.match(await deliverOne(deliverer), { state: 'later', retryAfterMs: 0 }, 'what comes afterwards');
  answer();
  t.match(await out, { state: 'delivered' });
  await closed;
  t.equal(server.submissions.length, 1);
  await server.stop();
  t.same(await leftBehind(), []);
});

t.test('without a reply within the grace it is unknown', async t => {
  const { server, deliverer } = await withOneHost(t, { script: { dot: stall } });
  const out = deliverOne(deliverer);
  await server.until(() => server.submissions.length === 1);
  await deliverer.close(50);
  t.match(await out, { state: 'unknown', code: '4.4.2' });
  await server.stop();
  t.same(await leftBehind(), []);
});

t.test('a mark that is being written when closing begins lets no dot out', async t => {
  const { server, deliverer } = await withOneHost(t);
  let closed: Promise<void> | null = null;
  const outcome = await deliverOne(deliverer, {
    beforeDot: async () => {
      closed = deliverer.close(30_000);
      return true;
    },
  });
  t.match(outcome, { state: 'later', code: '4.3.2' });
  await closed;
  t.equal(server.submissions.length, 0);
});

const steps = ['greeting', 'ehlo', 'mail', 'rcpt', 'data'] as const;

for (const step of steps) {
  t.test(`a server that hangs at ${step} does not hold it up, and nothing is left`, async t => {
    const { server, deliverer } = await withOneHost(t, { script: { [step]: stall as Act } });
    const delivery = deliverOne(deliverer);
    await server.until(() =>
      step === 'greeting' ? server.sessions.length === 1 : verbs(server).includes(step.toUpperCase()),
    );
    await deliverer.close(30_000);
    t.match(await delivery, { state: 'later', code: '4.3.2' });
    await server.stop();
    t.same(await leftBehind(), []);
  });
}

t.test('those that wait for a connection or for their route are told, and nothing is left', async t => {
  const { servers, port } = await startHosts(t, [{ script: { mail: stall } }]);
  const limits = { maxPerParty: 1, maxPerDomain: 3 };
  const deliverer = delivererTo(t, port, routeTo(host('mx.test', '127.0.0.1')), limits);
  const deliveries = Array.from({ length: 8 }, () => deliverOne(deliverer));
  await servers[0]!.until(() => verbs(servers[0]!).includes('MAIL'));
  await deliverer.close(30_000);
  for (const delivery of deliveries) t.match(await delivery, { state: 'later', code: '4.3.2' });
  t.equal(servers[0]!.sessions.length, 1);
  await servers[0]!.stop();
  t.same(await leftBehind(), []);
});

t.test('idle sessions are ended with QUIT', async t => {
  const { server, deliverer } = await withOneHost(t);
  t.match(await deliverOne(deliverer), { state: 'delivered' });
  await deliverer.close(30_000);
  t.equal(verbs(server).at(-1), 'QUIT');
  await server.stop();
  t.same(await leftBehind(), []);
});
