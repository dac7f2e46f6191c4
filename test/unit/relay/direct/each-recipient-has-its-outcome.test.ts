import t from 'tap';
import type { DeliveryOutcome } from '../../../../src/usecases/ports.js';
import {
  andThen,
  type Cue,
  drop,
  raw,
  type Script,
  say,
} from '../../../support/smarthost/smarthost-script.js';
import { deliverOne, job, ONE, TWO, verbs, withOneHost } from './with-hosts.js';

const both = [ONE, TWO];
const HOST = 'mx.elsewhere.example';

t.test('2xx behind the dot: delivered, with host, code and reply', async t => {
  const { server, deliverer } = await withOneHost(t);
  const asked: (readonly string[])[] = [];
  const outcomes = await deliverer.deliver(
    job({
      recipients: both,
      beforeDot: async recipients => {
        asked.push(recipients);
        t.equal(server.submissions.length, 0, 'the dot has not left');
        return true;
      },
    }),
  );
  const wanted = {
    state: 'delivered',
    host: HOST,
    tls: null,
    code: '2.0.0',
    reply: /^250 2\.0\.0 OK queued/,
  };
  t.match(outcomes, [
    { recipient: ONE, ...wanted },
    { recipient: TWO, ...wanted },
  ]);
  t.same(asked, [both]);
  t.match(server.submissions, [{ from: 'agent@example.org', recipients: both }]);
});

t.test('the null sender, and its size', async t => {
  const { server, deliverer } = await withOneHost(t);
  t.match(await deliverOne(deliverer, { from: '', content: 'a: b\r\n\r\nc\r\n' }), { state: 'delivered' });
  t.match(server.submissions, [{ from: '', mailParameters: ' SIZE=11' }]);
});

const second = (act: ReturnType<typeof say>) => (cue: Cue) => (cue.recipient === 2 ? act : null);

t.test('one good and one bad recipient: delivered and failed', async t => {
  const { server, deliverer } = await withOneHost(t, {
    script: { rcpt: second(say('550 5.1.1 No such user')) },
  });
  const asked: (readonly string[])[] = [];
  const outcomes = await deliverer.deliver(
    job({
      recipients: both,
      beforeDot: async recipients => asked.push(recipients) > 0,
    }),
  );
  t.match(outcomes, [
    { recipient: ONE, state: 'delivered' },
    { recipient: TWO, state: 'failed', code: '5.1.1', reply: '550 5.1.1 No such user', host: HOST },
  ]);
  t.same(asked, [[ONE]], 'only of the one that the server takes');
  t.same(server.submissions[0]?.recipients, [ONE]);
});

t.test('one good and one greylisted: delivered and later, and later succeeds at the second try', async t => {
  const { server, deliverer } = await withOneHost(t, {
    script: { rcpt: second(say('451 4.7.1 Greylisted')) },
  });
  t.match(await deliverer.deliver(job({ recipients: both })), [
    { state: 'delivered' },
    { state: 'later', code: '4.7.1', reply: '451 4.7.1 Greylisted' },
  ]);
  server.script = {};
  t.match(await deliverOne(deliverer, { recipients: [TWO] }), { state: 'delivered' });
  t.same(
    server.submissions.map(({ recipients }) => recipients),
    [[ONE], [TWO]],
  );
});

t.test('no recipient is taken: no DATA, nobody is asked about the dot, and the session goes on', async t => {
  const { server, deliverer } = await withOneHost(t, { script: { rcpt: say('550 No') } }, { maxPerParty: 1 });
  const beforeDot = async () => t.fail('not asked') as boolean;
  const outcomes = await deliverer.deliver(job({ recipients: both, beforeDot }));
  t.match(outcomes, [
    { state: 'failed', code: '5.0.0', reply: '550 No' },
    { state: 'failed', code: '5.0.0' },
  ]);
  server.script = {};
  t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.same(verbs(server), ['EHLO', 'MAIL', 'RCPT', 'RCPT', 'RSET', 'MAIL', 'RCPT', 'DATA']);
});

t.test('552 at RCPT among several is too many recipients, which is for later', async t => {
  const { deliverer } = await withOneHost(t, { script: { rcpt: second(say('552 Too many recipients')) } });
  t.match(await deliverer.deliver(job({ recipients: both })), [
    { state: 'delivered' },
    { state: 'later', code: '4.0.0' },
  ]);
});

for (const [claim, act] of [
  ['a full mailbox', say('552 5.2.2 Mailbox full')],
  ['of one alone', say('552 No')],
] as const) {
  t.test(`552 at RCPT, ${claim}: failed`, async t => {
    const { deliverer } = await withOneHost(t, { script: { rcpt: act } });
    t.match(await deliverOne(deliverer), { state: 'failed' });
  });
}

interface Row {
  readonly claim: string;
  readonly script: Script;
  readonly wanted: Partial<Record<keyof DeliveryOutcome, unknown>>;
  readonly submissions?: number;
}

const bye = andThen(say('421 4.3.2 Bye'), 'drop');
const rows: readonly Row[] = [
  { claim: 'MAIL 550', script: { mail: say('550 5.7.1 No') }, wanted: { state: 'failed', code: '5.7.1' } },
  { claim: 'MAIL 451', script: { mail: say('451 No') }, wanted: { state: 'later', code: '4.0.0' } },
  { claim: 'DATA 554', script: { data: say('554 5.5.1 No') }, wanted: { state: 'failed', code: '5.5.1' } },
  { claim: 'DATA 451', script: { data: say('451 4.3.0 No') }, wanted: { state: 'later', code: '4.3.0' } },
  { claim: 'DATA 250', script: { data: say('250 OK') }, wanted: { state: 'later', code: '4.5.0' } },
  {
    claim: 'greeting 554',
    script: { greeting: say('554 5.3.2 No') },
    wanted: { state: 'later', code: '4.3.2' },
  },
  {
    claim: 'EHLO and the end',
    script: { ehlo: drop },
    wanted: { state: 'later', code: '4.4.2' },
  },
  {
    claim: 'dot 554',
    script: { dot: say('554 5.7.1 Spam') },
    wanted: { state: 'failed', code: '5.7.1', reply: '554 5.7.1 Spam' },
    submissions: 1,
  },
  {
    claim: 'dot 451',
    script: { dot: say('451 No') },
    wanted: { state: 'later', code: '4.0.0' },
    submissions: 1,
  },
  {
    claim: 'dot 550 with a code of another class',
    script: { dot: say('550 4.7.1 No') },
    wanted: { code: '5.0.0' },
  },
  { claim: 'dot 354', script: { dot: say('354 Go on') }, wanted: { state: 'unknown' }, submissions: 1 },
  ...(['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot'] as const).map(
    (step): Row => ({
      claim: `${step} 421`,
      script: { [step]: bye },
      wanted: { state: 'later', code: '4.3.2', reply: '421 4.3.2 Bye', isThrottled: true, host: HOST },
      submissions: step === 'dot' ? 1 : 0,
    }),
  ),
];

for (const { claim, script, wanted, submissions = 0 } of rows) {
  t.test(claim, async t => {
    const { server, deliverer } = await withOneHost(t, { script });
    t.match(await deliverOne(deliverer), wanted);
    if (wanted.code !== '5.0.0') t.equal(server.submissions.length, submissions);
  });
}

for (const [words, isThrottled] of [
  ['450 4.7.28 Unusual rate of mail', true],
  ['451 4.7.1 Too many messages, slow down', true],
  ['452 4.2.2 Mailbox full', undefined],
  ['451 4.7.1 Greylisted', undefined],
  ['550 5.7.1 Sending rate exceeded', undefined],
] as const) {
  t.test(`"${words}" ${isThrottled ? 'asks' : 'does not ask'} for a slower pace`, async t => {
    const { deliverer } = await withOneHost(t, { script: { rcpt: say(words) } });
    t.equal((await deliverOne(deliverer)).isThrottled, isThrottled);
  });
}

t.test('a reply becomes one line of printable ASCII of at most 500 characters', async t => {
  const hostile = `550-5.1.1 Zoë \u001b[31m\u202e\u0000 x\r\n550 5.1.1 ${'y'.repeat(5000)}\r\n`;
  const { deliverer } = await withOneHost(t, { script: { rcpt: raw(hostile) } });
  const { reply, code } = await deliverOne(deliverer);
  t.equal(code, '5.1.1');
  t.match(reply, /^550 5\.1\.1 Zo\? /);
  t.match(reply, /^[\x20-\x7e]{1,500}$/);
});

t.test('MAIL and RCPT go together where that is offered, and DATA never with them', async t => {
  const { server, deliverer } = await withOneHost(t, {
    script: { rcpt: ({ recipient }) => (recipient % 2 === 0 ? say('550 5.1.1 No') : null) },
  });
  const recipients = Array.from({ length: 50 }, (_, at) => `r${at}@elsewhere.example`);
  const outcomes = await deliverer.deliver(job({ recipients }));
  t.same(
    outcomes.map(({ state }) => state),
    recipients.map((_, at) => (at % 2 === 1 ? 'failed' : 'delivered')),
  );
  t.ok(server.sessions[0]?.hasPipelined);
  t.equal(server.submissions[0]?.recipients.length, 25);
});

t.test('a server that says 354 though it has refused everybody is not asked to', async t => {
  const { server, deliverer } = await withOneHost(t, {
    script: { rcpt: say('450 No'), data: say('354 Go on') },
  });
  t.match(await deliverOne(deliverer), { state: 'later', code: '4.0.0' });
  t.notOk(verbs(server).includes('DATA'));
});

const plainEhlo = (...offers: string[]) => say('250-fake.example', ...offers.slice(0, -1), offers.at(-1)!);

t.test('one at a time, and without SIZE, where neither is offered', async t => {
  const { server, deliverer } = await withOneHost(t, { script: { ehlo: plainEhlo('250 HELP') } });
  t.match(await deliverer.deliver(job({ recipients: both })), [
    { state: 'delivered' },
    { state: 'delivered' },
  ]);
  t.notOk(server.sessions[0]?.hasPipelined);
  t.match(server.submissions, [{ mailParameters: '' }]);
});

t.test('HELO where EHLO is not known', async t => {
  const script: Script = { ehlo: ({ line }) => (line.startsWith('EHLO') ? say('502 5.5.1 What?') : null) };
  const { server, deliverer } = await withOneHost(t, { script });
  t.match(await deliverOne(deliverer), { state: 'delivered' });
  t.same(verbs(server).slice(0, 3), ['EHLO', 'HELO', 'MAIL']);
});

t.test('a message over the announced size fails, and nothing of it is sent', async t => {
  const { server, deliverer } = await withOneHost(t, { script: { ehlo: plainEhlo('250 SIZE 20') } });
  t.match(await deliverOne(deliverer), { state: 'failed', code: '5.3.4' });
  t.same(verbs(server), ['EHLO']);
});

t.test('MAIL refused among commands that were sent together: every recipient hears of it', async t => {
  const { deliverer } = await withOneHost(t, {
    script: { mail: say('550 5.1.8 Not you'), rcpt: say('503 5.5.1 MAIL first') },
  });
  t.match(await deliverer.deliver(job({ recipients: both })), [
    { state: 'failed', code: '5.1.8' },
    { state: 'failed', code: '5.1.8' },
  ]);
});

t.test('what is said of the sender is never taken for news of an address', async t => {
  for (const code of ['5.1.1', '5.1.2', '5.1.3', '5.1.10']) {
    const { deliverer } = await withOneHost(t, { script: { mail: say(`550 ${code} Sender unknown`) } });
    t.match(await deliverOne(deliverer), {
      state: 'failed',
      code: '5.1.0',
      reply: `550 ${code} Sender unknown`,
    });
  }
});
