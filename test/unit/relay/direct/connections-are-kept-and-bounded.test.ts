import t from 'tap';
import { andThen, drop, onceThat, reset, say, stall } from '../../../support/smarthost/smarthost-script.js';
import { untilNoSocket } from '../smarthost/with-smarthost.js';
import { delivererTo, deliverOne, host, job, routeTo, startHosts, verbs, withOneHost } from './with-hosts.js';

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

t.test('one message after the other goes over one session', async t => {
  const { server, deliverer } = await withOneHost(t);
  for (let n = 1; n <= 5; n += 1) t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.equal(server.sessions.length, 1);
  t.equal(server.submissions.length, 5);
});

t.test('messages of other domains to the same host as well', async t => {
  const { server, deliverer } = await withOneHost(t);
  t.match(await deliverOne(deliverer, { domain: 'a.example' }), { state: 'delivered' });
  t.match(await deliverOne(deliverer, { domain: 'b.example' }), { state: 'delivered' });
  t.equal(server.sessions.length, 1);
});

t.test('a host is the same only at the same address', async t => {
  const { servers, port } = await startHosts(t, [{}, {}]);
  const deliverer = delivererTo(t, port, domain =>
    routeTo(host('mx.test', domain === 'a.example' ? '127.0.0.1' : '127.0.0.2')),
  );
  t.match(await deliverOne(deliverer, { domain: 'a.example' }), { state: 'delivered' });
  t.match(await deliverOne(deliverer, { domain: 'b.example' }), { state: 'delivered' });
  t.same(
    servers.map(({ submissions }) => submissions.length),
    [1, 1],
  );
});

t.test('a kept session with any address of the host goes before a connection to the first', async t => {
  const { servers, port } = await startHosts(t, [{}]);
  let asked = 0;
  const deliverer = delivererTo(t, port, routeTo(host('mx.test', '127.0.0.9', '127.0.0.1')), {
    mayConnect: () => ++asked > 0,
  });
  for (let n = 1; n <= 3; n += 1) t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.equal(servers[0]?.sessions.length, 1);
  t.equal(asked, 2, 'the first address was tried once');
});

t.test('a session that has carried its share is left with QUIT for a new one', async t => {
  const { server, deliverer } = await withOneHost(t, {}, { maxMessagesPerConnection: 2, maxPerParty: 1 });
  for (let n = 1; n <= 5; n += 1) t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.equal(server.sessions.length, 3);
  t.equal(verbs(server).at(-1), 'QUIT');
});

t.test('an idle session is ended with QUIT', async t => {
  const { server, deliverer } = await withOneHost(t, {}, { idleMs: 30 });
  t.match(await deliverOne(deliverer), { state: 'delivered' });
  await server.until(() => server.open === 0);
  t.equal(verbs(server).at(-1), 'QUIT');
});

t.test('a transaction that was refused is reset before the next one', async t => {
  const { server, deliverer } = await withOneHost(
    t,
    { script: { mail: ({ transaction }) => (transaction === 1 ? say('550 5.1.8 No') : null) } },
    { maxPerParty: 1 },
  );
  t.match(await deliverOne(deliverer), { state: 'failed' });
  t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.same(verbs(server), ['EHLO', 'MAIL', 'RCPT', 'RSET', 'MAIL', 'RCPT', 'DATA']);
});

for (const [claim, act] of [
  ['ended', drop],
  ['reset', reset],
  ['took leave of (421)', andThen(say('421 4.4.2 Idle for too long'), 'drop')],
  ['said something over', say('250 2.0.0 OK')],
] as const) {
  t.test(`a session that the server ${claim} while it was idle is noticed then`, async t => {
    const { server, deliverer } = await withOneHost(t);
    t.match(await deliverOne(deliverer), { state: 'delivered' });
    await server.perform(act);
    await server.until(() => server.open === 0);
    await untilNoSocket();
    t.match(await deliverOne(deliverer), { state: 'delivered' });
    t.same([server.sessions.length, server.submissions.length], [2, 2]);
  });
}

for (const [claim, act] of [
  ['the end', drop],
  ['silence', stall],
  ['421', andThen(say('421 4.4.2 Idle for too long'), 'drop')],
] as const) {
  t.test(`a used session that answers MAIL with ${claim} is replaced, once`, async t => {
    const { server, deliverer } = await withOneHost(
      t,
      { script: { mail: ({ session, transaction }) => (session + transaction > 2 ? act : null) } },
      { reusedMs: 100, commandMs: 200 },
    );
    t.match(await deliverOne(deliverer), { state: 'delivered' });
    server.script = { mail: ({ session, transaction }) => (session === 1 && transaction === 2 ? act : null) };
    t.match(await deliverOne(deliverer), { state: 'delivered' });
    t.same([server.sessions.length, server.submissions.length], [2, 2]);
    server.script = { mail: act };
    t.match(await deliverOne(deliverer), { state: 'later' });
    t.equal(server.sessions.length, 3);
  });
}

/** A gate that holds back every reply to the final dot. */
function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { open, opened };
}

t.test('one host has no more connections than it may, whatever the domains', async t => {
  const { open, opened } = gate();
  const script = { dot: onceThat(opened, say('250 OK')) };
  const { server, deliverer } = await withOneHost(t, { script }, { maxPerParty: 3 });
  const deliveries = times(12, at => deliverOne(deliverer, { domain: `d${at}.example` }));
  await server.until(() => server.submissions.length === 3);
  t.equal(server.open, 3);
  open();
  t.ok((await Promise.all(deliveries)).every(({ state }) => state === 'delivered'));
  t.same([server.sessions.length, server.submissions.length], [3, 12]);
});

t.test('one domain has no more messages on their way than it may, whatever its hosts', async t => {
  const { open, opened } = gate();
  const script = { dot: onceThat(opened, say('250 OK')) };
  const { servers, port } = await startHosts(t, [{ script }, {}]);
  const deliverer = delivererTo(
    t,
    port,
    domain => routeTo(host('mx.test', domain === 'slow.example' ? '127.0.0.1' : '127.0.0.2')),
    { maxPerDomain: 2 },
  );
  const slow = times(8, () => deliverOne(deliverer, { domain: 'slow.example' }));
  await servers[0]!.until(() => servers[0]!.submissions.length === 2);
  t.match(await deliverOne(deliverer, { domain: 'other.example' }), { state: 'delivered' }, 'others go on');
  t.equal(servers[0]!.open, 2);
  open();
  t.ok((await Promise.all(slow)).every(({ state }) => state === 'delivered'));
  t.equal(servers[0]!.sessions.length, 2);
});

t.test(
  'all hosts together have no more than the whole, and a host that hangs leaves room for others',
  async t => {
    const { servers, port } = await startHosts(t, [{ script: { greeting: stall } }, {}, {}, {}]);
    const deliverer = delivererTo(t, port, domain => routeTo(host(`mx.${domain}`, `127.0.0.${domain[1]}`)), {
      maxConnections: 4,
      maxPerParty: 2,
    });
    const hanging = times(6, () => deliverOne(deliverer, { domain: 'd1.example' }));
    const others = times(30, at => deliverOne(deliverer, { domain: `d${2 + (at % 3)}.example` }));
    let most = 0;
    const look = setInterval(() => {
      most = Math.max(
        most,
        servers.reduce((sum, { open }) => sum + open, 0),
      );
    }, 1);
    t.ok((await Promise.all(others)).every(({ state }) => state === 'delivered'));
    clearInterval(look);
    t.ok(most <= 4 + 1, `${most} connections at most, one of them perhaps closed and not yet seen to be`);
    t.equal(servers[0]!.sessions.length, 2);
    await deliverer.close(0);
    t.ok((await Promise.all(hanging)).every(({ state }) => state === 'later'));
  },
);

t.test('idle connections count too: the oldest is ended before a new one is made', async t => {
  const { servers, port } = await startHosts(t, [{}, {}, {}]);
  let open = 0;
  const deliverer = delivererTo(t, port, domain => routeTo(host(`mx.${domain}`, `127.0.0.${domain[1]}`)), {
    maxConnections: 2,
    mayConnect: () => {
      open = servers.filter(
        (_, at) => servers[at]!.sessions.length > 0 && !verbs(servers[at]!).includes('QUIT'),
      ).length;
      return true;
    },
  });
  for (const domain of ['d1.example', 'd2.example', 'd3.example']) {
    t.match(await deliverOne(deliverer, { domain }), { state: 'delivered' });
  }
  t.equal(open, 1, 'the first was ended before the third was connected to');
  t.equal(verbs(servers[0]!).at(-1), 'QUIT');
  t.match(await deliverOne(deliverer, { domain: 'd2.example' }), { state: 'delivered' });
  t.equal(servers[1]!.sessions.length, 1, 'the second was kept');
});

t.test('who waits too long for a connection is for later, which is no attempt', async t => {
  const { server, deliverer } = await withOneHost(
    t,
    { script: { dot: stall } },
    { maxPerParty: 1, waitMs: 50, verdictMs: 300 },
  );
  const first = deliverOne(deliverer);
  await server.until(() => server.submissions.length === 1);
  t.match(await deliverOne(deliverer), {
    state: 'later',
    code: '4.4.5',
    host: null,
    retryAfterMs: 60_000,
  });
  t.match(await first, { state: 'unknown' });
});

t.test('a server that never ends a reply, or sends more and more, is left', async t => {
  const endless = `250-${'x'.repeat(60_000)}\r\n`.repeat(4);
  for (const script of [
    { greeting: say('220-x'.repeat(40_000)) },
    { ehlo: say(endless) },
    { rcpt: say(endless) },
    { mail: say('250 OK\r\n'.repeat(200)) },
    { dot: say(endless) },
  ]) {
    const { server, deliverer } = await withOneHost(t, { script });
    const outcome = await deliverOne(deliverer);
    t.equal(outcome.state, 'dot' in script ? 'unknown' : 'later');
    t.match(outcome.reply, /^[\x20-\x7e]{1,500}$/);
    await server.until(() => server.open === 0);
  }
});

t.test('a server that drips costs one connection, and not for ever', async t => {
  const drip = { pieces: times(400, () => '250-x\r\n'), ending: 'go on' } as const;
  for (const [script, options] of [
    [{ greeting: drip }, { setupMs: 200 }],
    [{ rcpt: drip }, { commandMs: 200 }],
  ] as const) {
    const { server, deliverer } = await withOneHost(t, { script }, options);
    t.match(await deliverOne(deliverer), { state: 'later' });
    t.equal(server.sessions.length, 1);
  }
});

t.test('the envelope has a time of its own, however many recipients take theirs', async t => {
  const slow = { ...say('250 OK'), pieces: ['250 ', 'O', 'K', '\r\n'] };
  const { deliverer } = await withOneHost(
    t,
    { script: { rcpt: slow, ehlo: say('250-fake.example', '250 HELP') } },
    { envelopeMs: 150 },
  );
  const recipients = times(50, at => `r${at}@elsewhere.example`);
  const outcomes = await deliverer.deliver(job({ recipients }));
  t.ok(outcomes.every(({ state, code }) => state === 'later' && code === '4.4.2'));
});
