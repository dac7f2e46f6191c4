import t from 'tap';
import { smtpListenerDefaults } from '../../../../src/smtp/options.js';
import { ClientTime, DataClock, ListenerClock } from '../../../../src/smtp/session-timers.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

const MINUTE = 60_000;

/** Sends `bytes` every `everyMs`, checked every five seconds. Returns when the sender is cut off, and why. */
function cutOff(bytes: number, everyMs: number, forMs = 60 * MINUTE): string {
  const clock = new DataClock(smtpListenerDefaults, 0);
  for (let nowMs = 0; nowMs <= forMs; nowMs += 5000) {
    const refusal = clock.overdue(nowMs, Math.floor(nowMs / everyMs) * bytes);
    if (refusal !== null) return `${refusal.reason} after ${nowMs / MINUTE} min`;
  }
  return 'never';
}

t.test('a byte every 300 ms is over after two minutes, not after thirty', async t => {
  t.equal(cutOff(1, 300), 'too_slow after 2 min');
  t.equal(cutOff(0, 1000), 'too_slow after 2 min');
  t.equal(cutOff(99, 1000), 'too_slow after 2 min');
});

t.test('slow lines are not: a tenth of a GSM call, a block now and then, an outage of a minute', async t => {
  t.equal(cutOff(120, 1000, 25 * MINUTE), 'never');
  t.equal(cutOff(16 * 1024, 110_000, 25 * MINUTE), 'never');
  const clock = new DataClock(smtpListenerDefaults, 0);
  t.equal(clock.overdue(MINUTE, 20_000), null);
  t.equal(clock.overdue(2 * MINUTE, 20_000), null, 'a minute of nothing behind a minute of mail');
});

t.test('however fast, the total holds', async t => {
  t.equal(cutOff(1000, 1000), 'timeout after 30 min');
});

t.test('time in which the client waited for us does not count', async t => {
  const time = new ClientTime();
  const clock = new DataClock(smtpListenerDefaults, time.at(0));
  time.stop(MINUTE);
  time.stop(2 * MINUTE);
  t.equal(time.at(40 * MINUTE), MINUTE);
  time.goOn(41 * MINUTE);
  t.equal(clock.overdue(time.at(41 * MINUTE), 0), null);
  t.equal(clock.overdue(time.at(41.9 * MINUTE), 0), null);
  t.match(clock.overdue(time.at(42 * MINUTE), 0), { reason: 'too_slow' });
});

t.test('nor does time in which our process did nothing, or something else', async t => {
  const clock = new ListenerClock(5000);
  t.equal(clock.nowMs(5300), 300);
  for (let realMs = 6000; realMs <= 10_000; realMs += 1000) clock.tick(realMs);
  t.equal(clock.nowMs(10_001), 5001);
  t.equal(clock.nowMs(70_000), 6500, 'a minute without a tick');
  clock.tick(70_000);
  t.equal(clock.nowMs(70_500), 7000);
});

t.test('over the wire: 421 4.4.2, closed, nothing stored', async t => {
  const { port, inbound, listener } = await withListener(t, {
    dataWindowMs: 80,
    minDataBytesPerSecond: 5000,
  });
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', ['agent@example.org']);
  const trickle = setInterval(() => void client.write('x'), 5);
  t.teardown(() => clearInterval(trickle));
  t.equal((await client.expect(421)).enhanced, '4.4.2');
  await client.closed();
  t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
  t.match(listener.stats(), { refusedMessages: 1, refusals: { too_slow: 1, timeout: 0 } });
});
