import t from 'tap';
import {
  type ClockReading,
  type ClockState,
  jumpBetween,
  nextClockState,
} from '../../../../src/domain/clock.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const START: ClockReading = { at: Date.UTC(2026, 0, 1), bootId: 'a', bootMs: HOUR };
/** After the machine has run for so long, its clock moved by so much. */
const later = (ms: number, movedMs = 0, from = START): ClockReading => ({
  ...from,
  at: from.at + ms + movedMs,
  bootMs: from.bootMs + ms,
});
/** After the machine was started again. */
const restarted = (ms: number): ClockReading => ({ at: START.at + ms, bootId: 'b', bootMs: MINUTE });
const after = (...readings: readonly ClockReading[]): ClockState =>
  readings.reduce(nextClockState, nextClockState(null, START));

t.test('while the machine runs: more than an hour forward or five minutes back', async t => {
  for (const [moved, isJump] of [
    [HOUR, false],
    [HOUR + 1, true],
    [-5 * MINUTE, false],
    [-5 * MINUTE - 1, true],
  ] as const) {
    t.equal(jumpBetween(START, later(DAY, moved)), isJump ? moved : 0, `${moved} ms`);
  }
  t.equal(jumpBetween(START, later(90 * DAY)), 0, 'however long it was suspended');
});

t.test('across a start: any time before, or over thirty days past', async t => {
  for (const [passed, isJump] of [
    [-1, true],
    [0, false],
    [30 * DAY, false],
    [30 * DAY + 1, true],
  ] as const) {
    t.equal(jumpBetween(START, restarted(passed)), isJump ? passed : 0, `${passed} ms`);
  }
  const begunAnew = { at: START.at + DAY, bootId: 'a', bootMs: 1 };
  t.equal(jumpBetween(START, begunAnew), 0, 'the time since boot of a container may begin anew');
});

t.test('a clock that goes back to where it should be is confirmed by that', async t => {
  const jumped = after(later(1_000, YEAR));
  t.match(jumped, { confirmed: START, doubt: { movedMs: YEAR }, setBackMs: 0 });
  const back = nextClockState(jumped, later(60_000));
  t.match(back, { confirmed: later(60_000), doubt: null, setBackMs: YEAR });
  t.equal(nextClockState(back, later(120_000)).setBackMs, YEAR, 'that is counted once');
});

t.test('after a day without another jump it is taken to be right', async t => {
  t.not(after(later(0, YEAR), later(DAY - 1, YEAR)).doubt, null);
  t.equal(after(later(0, YEAR), later(HOUR, YEAR), later(DAY, YEAR)).doubt, null);
  t.not(after(later(0, YEAR), later(HOUR, 2 * YEAR), later(DAY, 2 * YEAR)).doubt, null, 'it begins anew');
});

t.test('neither a restart nor time that the machine was off takes the doubt away', async t => {
  const doubted = after(later(1_000, 20 * DAY));
  const on = nextClockState(doubted, restarted(21 * DAY));
  t.match(on.doubt, { movedMs: 20 * DAY, steadyMs: 0 });
  t.match(nextClockState(on, later(DAY, 0, restarted(21 * DAY))), { doubt: null });
});

t.test('an empty battery: wrong at the start, right when the network is there', async t => {
  const wrong = after(restarted(-5 * YEAR));
  t.match(wrong, { doubt: { movedMs: -5 * YEAR }, setBackMs: 5 * YEAR });
  t.match(nextClockState(wrong, { ...restarted(2 * HOUR), bootMs: 2 * MINUTE }), { doubt: null });
});
