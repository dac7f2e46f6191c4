import t from 'tap';
import { type Act, say, stall } from '../../support/smarthost/smarthost-script.js';
import { attempt, leftBehind } from './smarthost/with-smarthost.js';
import { withMixedRelay } from './with-relay.js';

const mixed = ['one@elsewhere.example', 'agent@example.org'];

t.test('submissions in hand are finished', async t => {
  const { relay, smarthost, inbound } = await withMixedRelay(t);
  const submissions = Array.from({ length: 20 }, () => relay.submit(attempt({ recipients: mixed })));
  await relay.close(30_000);
  const outcomes = await Promise.all(submissions);
  t.ok(outcomes.every(outcome => outcome.status === 'accepted'));
  t.equal(smarthost.submissions.length, 20);
  t.equal(inbound.messages.length, 20);
  t.ok(smarthost.sessions.every(session => session.lines.at(-1) === 'QUIT'));
  await smarthost.stop();
  t.same(await leftBehind(), []);
});

t.test('what comes afterwards is rejected, and nothing of it leaves', async t => {
  const { relay, smarthost, inbound } = await withMixedRelay(t);
  await relay.close(0);
  for (const recipients of [['one@elsewhere.example'], ['agent@example.org'], mixed]) {
    t.match(await relay.submit(attempt({ recipients })), {
      status: 'rejected',
      errorCode: 'E_RELAY_UNREACHABLE',
      detail: /being stopped/,
    });
  }
  t.equal(smarthost.sessions.length, 0);
  t.same(inbound.bodies, []);
});

const steps = ['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot'] as const;

for (const step of steps) {
  t.test(`a submission that hangs at ${step} is ended, and its outcome follows the rule`, async t => {
    const { relay, smarthost, inbound } = await withMixedRelay(t, { [step]: stall });
    const submission = relay.submit(attempt({ recipients: mixed }));
    await smarthost.until(() => {
      const lines = smarthost.sessions[0]?.lines ?? [];
      if (step === 'greeting') return smarthost.sessions.length === 1;
      return step === 'dot'
        ? smarthost.submissions.length === 1
        : lines.at(-1)?.startsWith(step.toUpperCase()) === true;
    });
    await relay.close(20);
    const outcome = await submission;
    if (step === 'dot') t.match(outcome, { status: 'unknown', errorCode: 'acceptance_unknown' });
    else t.match(outcome, { status: 'rejected', errorCode: 'E_RELAY_UNREACHABLE' });
    t.same(inbound.messages, []);
    t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
    await smarthost.stop();
    t.same(await leftBehind(), []);
  });
}

t.test('those that wait in line are told too', async t => {
  const { relay, smarthost } = await withMixedRelay(t, { mail: stall });
  const submissions = Array.from({ length: 12 }, () => relay.submit(attempt()));
  await smarthost.until(() => smarthost.sessions.filter(session => session.lines.length === 2).length === 5);
  await relay.close(0);
  for (const outcome of await Promise.all(submissions)) t.equal(outcome.status, 'rejected');
  t.equal(smarthost.sessions.length, 5);
  await smarthost.stop();
  t.same(await leftBehind(), []);
});

t.test('a server that does not say goodbye is not waited for', async t => {
  for (const quit of [stall, say('500 what')] as Act[]) {
    const { relay, smarthost } = await withMixedRelay(t, { quit }, { quitMs: 50 });
    t.equal((await relay.submit(attempt())).status, 'accepted');
    await relay.close(30_000);
    await smarthost.stop();
    t.same(await leftBehind(), []);
  }
});

t.test('closing twice is closing once', async t => {
  const { relay } = await withMixedRelay(t);
  t.equal((await relay.submit(attempt())).status, 'accepted');
  await Promise.all([relay.close(1000), relay.close(0)]);
  await relay.close(0);
  t.pass();
});
