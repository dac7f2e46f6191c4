import t from 'tap';
import { recordingLog } from '../../../support/redis/redis.js';
import { withFakeSmarthost } from '../../../support/smarthost/fake-smarthost.js';
import {
  andThen,
  drop,
  reset,
  type Script,
  say,
  stall,
} from '../../../support/smarthost/smarthost-script.js';
import { attempt, transportTo, untilNoSocket, withSmarthost } from './with-smarthost.js';

t.test('one after the other goes over one session', async t => {
  const { smarthost, transport } = await withSmarthost(t);
  for (let n = 1; n <= 5; n += 1) t.equal((await transport.submit(attempt())).status, 'accepted');
  t.equal(smarthost.sessions.length, 1);
  t.equal(smarthost.submissions.length, 5);
  t.equal(smarthost.sessions[0]?.lines.filter(line => line === 'RSET').length, 0, 'no need to');
});

t.test('many at once share so many sessions as are allowed', async t => {
  const { smarthost, transport } = await withSmarthost(t, {}, { maxConnections: 2 });
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => transport.submit(attempt())));
  t.ok(outcomes.every(outcome => outcome.status === 'accepted'));
  t.equal(smarthost.sessions.length, 2);
  t.equal(smarthost.submissions.length, 20);
});

t.test('a session that has carried its share is left for a new one', async t => {
  const { smarthost, transport } = await withSmarthost(
    t,
    {},
    { maxConnections: 1, maxMessagesPerConnection: 2 },
  );
  for (let n = 1; n <= 5; n += 1) t.equal((await transport.submit(attempt())).status, 'accepted');
  t.equal(smarthost.sessions.length, 3);
  await smarthost.until(() => smarthost.open === 1);
  t.same(
    smarthost.sessions.map(session => session.lines.at(-1) === 'QUIT'),
    [true, true, false],
  );
});

t.test('an idle session is ended with QUIT', async t => {
  const { smarthost, transport } = await withSmarthost(t, {}, { idleMs: 30 });
  t.equal((await transport.submit(attempt())).status, 'accepted');
  await smarthost.until(() => smarthost.open === 0);
  t.equal(smarthost.sessions[0]?.lines.at(-1), 'QUIT');
});

for (const [claim, act] of [
  ['ended', drop],
  ['reset', reset],
  ['took leave of (421)', andThen(say('421 4.4.2 Idle for too long'), 'drop')],
  ['said something over', say('250 2.0.0 OK')],
  ['said nonsense over', say('what?')],
] as const) {
  t.test(`a session that the server ${claim} while it was idle is noticed then`, async t => {
    const smarthost = await withFakeSmarthost(t);
    const log = recordingLog();
    const transport = transportTo(t, smarthost.port, { maxConnections: 1 }, log);
    t.equal((await transport.submit(attempt())).status, 'accepted');
    await smarthost.perform(act);
    await smarthost.until(() => smarthost.open === 0);
    await untilNoSocket();
    t.equal((await transport.submit(attempt())).status, 'accepted');
    t.equal(smarthost.sessions.length, 2);
    t.equal(smarthost.submissions.length, 2);
    t.same(log.matching(/was dead/), [], 'not only at MAIL');
  });
}

const deaths = {
  'the end': drop,
  'a reset': reset,
  silence: stall,
  '421': andThen(say('421 4.4.2 Idle for too long'), 'drop'),
  garbage: say('what?'),
};

for (const [death, act] of Object.entries(deaths)) {
  t.test(`a used session that answers MAIL with ${death} is replaced by a new one`, async t => {
    const { smarthost, transport } = await withSmarthost(
      t,
      { mail: ({ session, transaction }) => (session === 1 && transaction === 2 ? act : null) },
      { reusedMs: 100 },
    );
    t.equal((await transport.submit(attempt())).status, 'accepted');
    t.equal((await transport.submit(attempt())).status, 'accepted');
    t.equal(smarthost.sessions.length, 2);
    t.equal(smarthost.submissions.length, 2);
  });

  t.test(`a new session that answers MAIL with ${death} is not`, async t => {
    const { smarthost, transport } = await withSmarthost(t, { mail: act }, { commandMs: 100 });
    t.equal((await transport.submit(attempt())).status, 'rejected');
    t.equal(smarthost.sessions.length, 1);
    t.equal(smarthost.submissions.length, 0);
  });

  t.test(`the replacement that answers MAIL with ${death} is the last`, async t => {
    const { smarthost, transport } = await withSmarthost(
      t,
      { mail: ({ session, transaction }) => (session + transaction > 2 ? act : null) },
      { reusedMs: 100, commandMs: 100 },
    );
    t.equal((await transport.submit(attempt())).status, 'accepted');
    t.equal((await transport.submit(attempt())).status, 'rejected');
    t.equal(smarthost.sessions.length, 2);
    t.equal(smarthost.submissions.length, 1);
  });

  t.test(`a used session that answers RCPT with ${death} is the end of the attempt`, async t => {
    const { smarthost, transport } = await withSmarthost(
      t,
      { rcpt: ({ session, transaction }) => (session === 1 && transaction === 2 ? act : null) },
      { commandMs: 100 },
    );
    t.equal((await transport.submit(attempt())).status, 'accepted');
    t.match(await transport.submit(attempt()), { status: 'rejected', errorCode: /^E_(?:RELAY|TEMPORARY)_/ });
    t.equal(smarthost.sessions.length, 1);
    t.equal((await transport.submit(attempt())).status, 'accepted', 'the next one gets a new session');
  });
}

t.test('a refusal at MAIL is an answer, on a used session too', async t => {
  const { smarthost, transport } = await withSmarthost(t, {
    mail: ({ transaction }) => (transaction === 2 ? say('451 4.7.1 Later') : null),
  });
  t.equal((await transport.submit(attempt())).status, 'accepted');
  t.match(await transport.submit(attempt()), { status: 'rejected', errorCode: 'E_TEMPORARY_FAILURE' });
  t.equal(smarthost.sessions.length, 1);
});

t.test('after a refused message the session goes on', async t => {
  const { smarthost, transport } = await withSmarthost(
    t,
    { dot: ({ transaction }) => (transaction === 1 ? say('554 5.7.1 Spam') : null) },
    { maxConnections: 1 },
  );
  t.equal((await transport.submit(attempt())).status, 'rejected');
  t.equal((await transport.submit(attempt())).status, 'accepted');
  t.equal(smarthost.sessions.length, 1);
});

t.test('a reply too many leaves the session out of use: the next answer would be another one', async t => {
  const { smarthost, transport } = await withSmarthost(t, {
    dot: ({ session }) => (session === 1 ? say('250 2.0.0 OK', '250 2.0.0 OK again') : null),
  });
  t.equal((await transport.submit(attempt())).status, 'accepted');
  await smarthost.until(() => smarthost.open === 0);
  t.equal((await transport.submit(attempt())).status, 'accepted');
  t.equal(smarthost.sessions.length, 2);
});

t.test('a reply too many in the middle ends it: it would stand for a later one', async t => {
  const { smarthost, transport } = await withSmarthost(t, {
    mail: say('250 2.1.0 OK', '250 2.1.0 OK again'),
  });
  t.match(await transport.submit(attempt()), {
    status: 'rejected',
    errorCode: 'E_RELAY_UNREACHABLE',
    detail: /nobody asked for \(at RCPT/,
  });
  t.equal(smarthost.submissions.length, 0);
});

t.test('a 421 too many in the middle is the answer to what comes next', async t => {
  const { smarthost, transport } = await withSmarthost(t, { mail: say('250 2.1.0 OK', '421 4.3.2 Closing') });
  t.match(await transport.submit(attempt()), {
    status: 'rejected',
    errorCode: 'E_TEMPORARY_FAILURE',
    detail: '421 4.3.2 Closing (at RCPT, recipient 1)',
  });
  t.notOk(smarthost.sessions[0]?.lines.some(line => line.startsWith('RCPT')));
});

t.test('who finds all connections in use waits in line, and not for ever', async t => {
  const { smarthost, transport } = await withSmarthost(t, { dot: stall }, { maxConnections: 1, waitMs: 50 });
  const first = transport.submit(attempt());
  await smarthost.until(() => smarthost.submissions.length === 1);
  t.match(await transport.submit(attempt()), {
    status: 'rejected',
    errorCode: 'E_RELAY_TIMEOUT',
    detail: /all 1 connections were in use/,
  });
  await transport.close(0);
  t.equal((await first).status, 'unknown');
});

t.test('a place that cannot be filled is passed on', async t => {
  const { smarthost, transport } = await withSmarthost(
    t,
    { greeting: ({ session }) => (session <= 2 ? say('554 Go away') : null) },
    { maxConnections: 1 },
  );
  const outcomes = await Promise.all([1, 2, 3, 4].map(() => transport.submit(attempt())));
  t.same(
    outcomes.map(outcome => outcome.status),
    ['rejected', 'rejected', 'accepted', 'accepted'],
  );
  t.equal(smarthost.sessions.length, 3);
});

const confusions: readonly (readonly [string, Script])[] = [
  ['354 to MAIL', { mail: say('354 Go on') }],
  ['250 to DATA', { data: say('250 OK') }],
  ['354 to the final dot', { dot: say('354 Go on') }],
  ['250 in the middle of the content', { content: { afterBytes: 100_000, step: say('250 OK') } }],
  ['552 in the middle of the content', { content: { afterBytes: 100_000, step: say('552 5.3.4 Too much') } }],
];

for (const [claim, script] of confusions) {
  t.test(`${claim}: that session is ended, and nothing else is sent over it`, async t => {
    const { smarthost, transport } = await withSmarthost(t, script, { maxConnections: 1 });
    const content = Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(100_000));
    t.not((await transport.submit(attempt({ content }))).status, 'accepted');
    smarthost.script = {};
    t.equal((await transport.submit(attempt())).status, 'accepted');
    t.equal(smarthost.sessions.length, 2);
    await smarthost.until(() => smarthost.open === 1);
    const [first] = smarthost.sessions;
    t.match(first?.lines.at(-1), /^(?:MAIL|DATA)/);
    t.ok((first?.contentBytes ?? 0) <= content.length + '.\r\n'.length);
  });
}

t.test('senders take turns for a connection that is free', async t => {
  const { smarthost, transport } = await withSmarthost(t, {}, { maxConnections: 1 });
  const outcomes = ['ann', 'ann', 'ann', 'ann', 'bob', 'cid'].map(name =>
    transport.submit(attempt({ from: `${name}@example.org` })),
  );
  await Promise.all(outcomes);
  const order = smarthost.submissions.map(({ from }) => from.replace(/@.*/, ''));
  t.same(order, ['ann', 'bob', 'cid', 'ann', 'ann', 'ann']);
});
