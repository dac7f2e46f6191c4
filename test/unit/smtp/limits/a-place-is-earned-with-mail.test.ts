import t from 'tap';
import { smtpListenerDefaults } from '../../../../src/smtp/options.js';
import { Pace } from '../../../../src/smtp/session-timers.js';

const SECOND = 1000;

interface Sender {
  readonly pace: Pace;
  /** Second by second, `bytes` come in each. Returns the arrears, in seconds, after the last one. */
  send(seconds: number, bytes: number): number;
  idle(seconds: number): number;
  /** `size` bytes within the current second, then the verdict. */
  message(size: number): void;
}

function connect(): Sender {
  const pace = new Pace(smtpListenerDefaults, 0);
  let nowMs = 0;
  const pass = (seconds: number, bytes: number, isInData: boolean): number => {
    let arrearsMs = 0;
    for (let n = 0; n < seconds; n++) {
      nowMs += SECOND;
      pace.earn(bytes);
      arrearsMs = pace.arrearsMs(nowMs, isInData);
    }
    return arrearsMs / SECOND;
  };
  return {
    pace,
    send: (seconds, bytes) => pass(seconds, bytes, true),
    idle: seconds => pass(seconds, 0, false),
    message: size => {
      pace.beginMessage(nowMs);
      pace.earn(size);
      pace.messageAccepted(nowMs);
    },
  };
}

t.test('between messages a session is slow after ten seconds, within one after thirty', async t => {
  const silent = connect();
  t.equal(silent.idle(9), 0);
  t.equal(silent.idle(1), 10);
  const sender = connect();
  sender.pace.beginMessage(0);
  t.equal(sender.send(29, 100), 0);
  t.ok(sender.send(1, 100) > 0);
});

t.test('a KiB a second is enough, for as long as it takes', async t => {
  const sender = connect();
  sender.pace.beginMessage(0);
  t.equal(sender.send(1000, 1024), 0);
  const slower = connect();
  slower.pace.beginMessage(0);
  t.ok(slower.send(30, 1000) > 0);
});

t.test('the slowest is furthest behind', async t => {
  const behind = [900, 500, 100, 1, 0].map(bytes => connect().send(60, bytes));
  t.same(
    behind,
    behind.toSorted((a, b) => a - b),
  );
  t.equal(new Set(behind).size, 5);
  t.ok(connect().send(40, 1) > connect().idle(12), 'and not who has just been silent for a moment');
});

t.test('what came fast before buys no time', async t => {
  const sender = connect();
  sender.pace.beginMessage(0);
  t.equal(sender.send(2, 5_000_000), 0);
  t.equal(sender.send(29, 0), 0);
  t.equal(sender.send(1, 0), 30);
  t.equal(sender.send(1, 100_000), 0, 'but who catches up is not slow');
});

t.test('an accepted message is worth some time, however small', async t => {
  const sender = connect();
  for (let n = 0; n < 20; n++) {
    t.equal(sender.idle(9), 0);
    sender.message(300);
  }
  t.equal(sender.idle(10), 10);
});

t.test('a message that begins late has ten seconds to show its pace', async t => {
  const sender = connect();
  sender.idle(300);
  sender.pace.beginMessage(300 * SECOND);
  t.equal(sender.send(9, 10_000), 0);
  t.equal(sender.idle(9), 0);
  const idler = connect();
  idler.idle(300);
  idler.pace.beginMessage(300 * SECOND);
  t.equal(idler.send(9, 1), 0);
  t.ok(idler.send(1, 1) > 0);
});

t.test('messages that take half a minute each do not keep a place', async t => {
  const sender = connect();
  let slow = 0;
  for (let n = 0; n < 10; n++) {
    sender.pace.beginMessage(n * 29 * SECOND);
    for (let second = 0; second < 29; second++) if (sender.send(1, 10) > 0) slow += 1;
    sender.pace.messageAccepted((n + 1) * 29 * SECOND);
  }
  t.ok(slow > 120, `slow in ${slow} of 290 seconds`);
});
