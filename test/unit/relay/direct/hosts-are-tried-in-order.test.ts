import t from 'tap';
import type { Cue, Script } from '../../../support/smarthost/smarthost-script.js';
import { andThen, drop, reset, say, stall } from '../../../support/smarthost/smarthost-script.js';
import {
  delivererTo,
  deliverOne,
  host,
  job,
  ONE,
  routeTo,
  startHosts,
  TWO,
  verbs,
  withOneHost,
} from './with-hosts.js';

/** `127.0.0.9` has no server in these tests. */
const NOBODY = '127.0.0.9';
const [A, B] = ['127.0.0.1', '127.0.0.2'];

/** Two hosts with a server each; the second is good. */
async function twoHosts(t: Parameters<typeof startHosts>[0], script: Script, options = {}) {
  const { servers, port } = await startHosts(t, [{ script }, {}]);
  const deliverer = delivererTo(t, port, routeTo(host('mx1.test', A!), host('mx2.test', B!)), options);
  return { deliverer, first: servers[0]!, second: servers[1]! };
}

t.test('nobody listens at an address: the next address, then the next host', async t => {
  const { servers, port } = await startHosts(t, [{}, {}]);
  const next = delivererTo(t, port, routeTo(host('mx1.test', NOBODY, A!), host('mx2.test', B!)));
  t.match(await deliverOne(next), { state: 'delivered', host: 'mx1.test' });
  const last = delivererTo(t, port, routeTo(host('mx1.test', NOBODY), host('mx2.test', B!)));
  t.match(await deliverOne(last), { state: 'delivered', host: 'mx2.test' });
  t.same(
    servers.map(({ submissions }) => submissions.length),
    [1, 1],
  );
});

t.test('nobody listens anywhere: later, 4.4.1, and no host', async t => {
  const { port } = await startHosts(t, [{}]);
  const deliverer = delivererTo(t, port, routeTo(host('mx1.test', NOBODY), host('mx2.test', NOBODY)));
  t.match(await deliverOne(deliverer), { state: 'later', code: '4.4.1', host: null, reply: /ECONNREFUSED/ });
});

t.test('no route: as the route says, and nobody is connected', async t => {
  const { servers, port } = await startHosts(t, [{}]);
  const none = delivererTo(t, port, { kind: 'none', code: '5.1.10', detail: 'null MX' });
  const later = delivererTo(t, port, { kind: 'later', code: '4.4.3', detail: 'SERVFAIL' });
  t.match(await none.deliver(job({ recipients: [ONE, TWO] })), [
    { recipient: ONE, state: 'failed', code: '5.1.10', reply: 'null MX' },
    { recipient: TWO, state: 'failed', code: '5.1.10' },
  ]);
  t.match(await deliverOne(later), { state: 'later', code: '4.4.3', reply: 'SERVFAIL' });
  t.equal(servers[0]?.sessions.length, 0);
});

t.test('an address that mail must not lead to is not connected to, whatever the route says', async t => {
  const { servers, port } = await startHosts(t, [{}, {}]);
  const asked: string[] = [];
  const options = { mayConnect: (address: string) => asked.push(address) > 0 && address !== A };
  const deliverer = delivererTo(t, port, routeTo(host('mx1.test', A!), host('mx2.test', B!)), options);
  t.match(await deliverOne(deliverer), { state: 'delivered', host: 'mx2.test' });
  t.equal(servers[0]?.sessions.length, 0);
  t.same(asked, [A, B]);

  const only = delivererTo(t, port, routeTo(host('mx1.test', A!, 'localhost')), options);
  t.match(await deliverOne(only), { state: 'later', code: '4.4.1', host: null, reply: /must not lead/ });
  t.equal(servers[0]?.sessions.length, 0, 'a name is no address either');
});

for (const [claim, script] of [
  ['greeting 554', { greeting: say('554 5.7.1 No') }],
  ['EHLO and HELO 550', { ehlo: say('550 5.7.1 No') }],
] as const) {
  t.test(`${claim} concerns the host: its other addresses are left out, the next host is tried`, async t => {
    const { servers, port } = await startHosts(t, [{ script }, { script }, {}]);
    const hosts = [host('mx1.test', '127.0.0.1', '127.0.0.2'), host('mx2.test', '127.0.0.3')];
    t.match(await deliverOne(delivererTo(t, port, routeTo(...hosts))), {
      state: 'delivered',
      host: 'mx2.test',
    });
    t.same(
      servers.map(({ sessions }) => sessions.length),
      [1, 0, 1],
    );
    const alone = delivererTo(t, port, routeTo(hosts[0]!));
    t.match(await deliverOne(alone), {
      state: 'later',
      code: '4.7.1',
      reply: /^55[04] 5\.7\.1 No/,
      host: 'mx1.test',
    });
  });
}

const times = { silenceMs: 150, commandMs: 150, dataMs: 150, blockMs: 150, setupMs: 400 };

for (const [claim, script] of [
  ['greeting 421', { greeting: andThen(say('421 4.3.2 Busy'), 'drop') }],
  ['greeting 450', { greeting: say('450 4.3.2 Busy') }],
  ['no greeting', { greeting: stall }],
  ['a greeting that is no SMTP', { greeting: say('SSH-2.0-OpenSSH_9.2') }],
  ['no reply to EHLO', { ehlo: stall }],
  ['MAIL 451', { mail: say('451 4.3.0 No') }],
  ['MAIL 421', { mail: andThen(say('421 4.3.2 Bye'), 'drop') }],
  ['the end at RCPT', { rcpt: drop }],
  ['a reset at DATA', { data: reset }],
  ['silence at DATA', { data: stall }],
  ['451 at DATA', { data: say('451 4.3.0 No') }],
] as const) {
  t.test(`${claim}: the next host gets it`, async t => {
    const { deliverer, first, second } = await twoHosts(t, script, times);
    t.match(await deliverOne(deliverer), { state: 'delivered', host: 'mx2.test' });
    t.equal(first.submissions.length, 0);
    t.equal(second.submissions.length, 1);
  });
}

t.test('RCPT 4xx: the next host is asked for that recipient alone, not another address', async t => {
  const grey = { rcpt: ({ recipient }: Cue) => (recipient === 1 ? say('450 4.2.0 Greylisted') : null) };
  const { servers, port } = await startHosts(t, [{ script: grey }, {}, {}]);
  const hosts = [host('mx1.test', '127.0.0.1', '127.0.0.2'), host('mx2.test', '127.0.0.3')];
  const outcomes = await delivererTo(t, port, routeTo(...hosts)).deliver(job({ recipients: [ONE, TWO] }));
  t.match(outcomes, [
    { recipient: ONE, state: 'delivered', host: 'mx2.test' },
    { recipient: TWO, state: 'delivered', host: 'mx1.test' },
  ]);
  t.same(
    servers.map(({ submissions }) => submissions.map(({ recipients }) => recipients)),
    [[[TWO]], [], [[ONE]]],
  );
});

t.test('RCPT 4xx at every host: later; that one cannot be reached says less', async t => {
  const grey = (words: string) => ({ script: { rcpt: say(words) } });
  const { port } = await startHosts(t, [grey('450 4.2.0 Greylisted'), grey('451 4.2.1 Full')]);
  const both = [host('mx1.test', A!), host('mx2.test', B!)];
  t.match(await deliverOne(delivererTo(t, port, routeTo(...both))), {
    state: 'later',
    host: 'mx2.test',
    code: '4.2.1',
  });
  const dead = [host('mx1.test', A!), host('mx3.test', NOBODY)];
  t.match(await deliverOne(delivererTo(t, port, routeTo(...dead))), {
    state: 'later',
    host: 'mx1.test',
    code: '4.2.0',
  });
});

t.test('a session that fails as a whole after RCPT 4xx: the next host gets it for all', async t => {
  const { deliverer, second } = await twoHosts(t, {
    rcpt: ({ recipient }) =>
      recipient === 1 ? say('450 4.2.0 Greylisted') : andThen(say('421 Bye'), 'drop'),
  });
  t.match(await deliverer.deliver(job({ recipients: [ONE, TWO] })), [
    { state: 'delivered', host: 'mx2.test' },
    { state: 'delivered', host: 'mx2.test' },
  ]);
  t.same(second.submissions[0]?.recipients, [ONE, TWO]);
});

t.test('and who was refused for good before it failed is not asked for again', async t => {
  const { deliverer, second } = await twoHosts(t, {
    rcpt: ({ recipient }) => (recipient === 1 ? say('550 5.1.1 No') : null),
    data: drop,
  });
  t.match(await deliverer.deliver(job({ recipients: [ONE, TWO] })), [
    { state: 'failed', host: 'mx1.test', code: '5.1.1' },
    { state: 'delivered', host: 'mx2.test' },
  ]);
  t.same(second.submissions[0]?.recipients, [TWO]);
});

for (const [claim, script] of [
  ['5xx at MAIL', { mail: say('550 5.1.8 No') }],
  ['5xx at DATA', { data: say('554 5.5.0 No') }],
  ['5xx to the dot', { dot: say('550 5.6.0 No') }],
  ['4xx to the dot', { dot: say('451 4.6.0 No') }],
  ['421 to the dot', { dot: andThen(say('421 4.3.2 Bye'), 'drop') }],
  ['no reply to the dot', { dot: drop }],
] as const) {
  t.test(`${claim}: no other host is asked`, async t => {
    const { deliverer, second } = await twoHosts(t, script);
    t.not((await deliverOne(deliverer)).state, 'delivered');
    t.equal(second.sessions.length, 0);
  });
}

t.test('when its time is over, no further address is tried', async t => {
  const { deliverer, second } = await twoHosts(t, { greeting: stall }, { silenceMs: 100, attemptMs: 50 });
  t.match(await deliverOne(deliverer), { state: 'later', code: '4.4.2', host: 'mx1.test' });
  t.equal(second.sessions.length, 0);
});

t.test('a message goes out from the address that is configured for the family', async t => {
  const { server, deliverer } = await withOneHost(
    t,
    {},
    { sourceAddresses: { ipv4: '127.0.0.7', ipv6: null } },
  );
  t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.equal(server.sessions[0]?.clientAddress, '127.0.0.7');
});

/** The same host over IPv6 first, then over IPv4. */
async function bothFamilies(t: Parameters<typeof startHosts>[0], overIpv6: Script, overIpv4: Script = {}) {
  const { servers, port } = await startHosts(t, [{ script: overIpv4 }, { script: overIpv6, address: '::1' }]);
  const deliverer = delivererTo(t, port, routeTo(host('mx1.test', '::1', A!)));
  return { deliverer, ipv4: servers[0]!, ipv6: servers[1]! };
}

for (const code of ['5.7.1', '5.7.25']) {
  for (const step of ['greeting', 'mail', 'rcpt', 'dot'] as const) {
    t.test(`${code} at ${step} over IPv6: once more over IPv4`, async t => {
      const { deliverer, ipv4, ipv6 } = await bothFamilies(t, { [step]: say(`550 ${code} Not over IPv6`) });
      let asked = 0;
      const outcome = await deliverOne(deliverer, { beforeDot: async () => ++asked > 0 });
      t.match(outcome, { state: 'delivered', host: 'mx1.test' });
      t.equal(ipv6.sessions.length, 1);
      t.equal(ipv4.submissions.length, 1);
      t.equal(asked, step === 'dot' ? 2 : 1, 'each dot is asked for');
    });
  }
}

t.test('5.7.1 over IPv4 as well: failed, and that was all', async t => {
  const no = { dot: say('550 5.7.1 No') };
  const { deliverer, ipv4, ipv6 } = await bothFamilies(t, no, no);
  t.match(await deliverOne(deliverer), { state: 'failed', code: '5.7.1' });
  t.same([ipv6.submissions.length, ipv4.submissions.length], [1, 1]);
});

t.test('another refusal for good over IPv6 is one', async t => {
  const { deliverer, ipv4 } = await bothFamilies(t, { rcpt: say('550 5.1.1 No such user') });
  t.match(await deliverOne(deliverer), { state: 'failed', code: '5.1.1' });
  t.equal(ipv4.sessions.length, 0);
});

t.test('only those who were refused so are tried over IPv4', async t => {
  const { deliverer, ipv4, ipv6 } = await bothFamilies(t, {
    rcpt: ({ recipient }) => (recipient === 1 ? say('550 5.7.1 Not over IPv6') : null),
  });
  t.match(await deliverer.deliver(job({ recipients: [ONE, TWO] })), [
    { state: 'delivered' },
    { state: 'delivered' },
  ]);
  t.same(ipv6.submissions[0]?.recipients, [TWO]);
  t.same(ipv4.submissions[0]?.recipients, [ONE]);
});

t.test('5.7.1 over IPv6 where there is no IPv4: failed', async t => {
  const { servers, port } = await startHosts(t, [
    {},
    { script: { rcpt: say('550 5.7.1 No') }, address: '::1' },
  ]);
  t.match(await deliverOne(delivererTo(t, port, routeTo(host('mx1.test', '::1')))), {
    state: 'failed',
    code: '5.7.1',
  });
  t.equal(verbs(servers[1]!).includes('DATA'), false);
});
