import { DAY_MS, HOUR_MS } from './instants.js';

/** One look at the clock of the machine. */
export interface ClockReading {
  /** What the clock says, milliseconds since the epoch. */
  readonly at: number;
  /** Tells one start of the machine from the next. */
  readonly bootId: string;
  /** How long the machine has been running, suspension included, in milliseconds: nobody can set this. */
  readonly bootMs: number;
}

/** A clock that is moved by more than this, forwards or back, has jumped. */
const MOST_FORWARD_MS = HOUR_MS;
export const MOST_BACK_MS = 5 * 60_000;
/** For how long a machine may have been off, before its clock is doubted at the start. */
const LONGEST_OFF_MS = 30 * DAY_MS;
/** A clock that has jumped and then ran as it should for so long, seen from here, is taken to be right. */
export const PROOF_MS = DAY_MS;

/**
 * By how much the clock was moved between two readings, in milliseconds; 0 when it ran on as a clock may. Across a start
 * of the machine only its own word can be had: any time before the earlier reading is a jump, and one long after it.
 */
export function jumpBetween(before: ClockReading, now: ClockReading): number {
  const passedMs = now.at - before.at;
  if (before.bootId !== now.bootId || now.bootMs < before.bootMs) {
    return passedMs < 0 || passedMs > LONGEST_OFF_MS ? passedMs : 0;
  }
  const movedMs = passedMs - (now.bootMs - before.bootMs);
  return movedMs > MOST_FORWARD_MS || movedMs < -MOST_BACK_MS ? movedMs : 0;
}

/** How far the clock can be relied on. */
export interface ClockState {
  /** The last reading that was as it should be. */
  readonly confirmed: ClockReading;
  /** Null unless the clock has jumped since and is not confirmed. */
  readonly doubt: ClockDoubt | null;
  /** By how much the clock was set back, all jumps together. Added to it, instants never go back by more than minutes. */
  readonly setBackMs: number;
}

export interface ClockDoubt {
  /** What the clock said when the jump was noticed. */
  readonly since: number;
  /** By how much it had been moved, in milliseconds. */
  readonly movedMs: number;
  /** The last reading since; the clock has run on from there without another jump. */
  readonly last: ClockReading;
  /** For how long it was seen to run so. */
  readonly steadyMs: number;
}

/** The state after one more reading. A clock that is moved back to where it should be is confirmed by that. */
export function nextClockState(before: ClockState | null, now: ClockReading): ClockState {
  if (before === null) return { confirmed: now, doubt: null, setBackMs: 0 };
  const { confirmed, doubt } = before;
  const last = doubt?.last ?? confirmed;
  const movedMs = jumpBetween(last, now);
  const setBackMs = before.setBackMs + Math.max(0, -movedMs);
  if (movedMs === 0) {
    const steadyMs = (doubt?.steadyMs ?? 0) + (last.bootId === now.bootId ? now.bootMs - last.bootMs : 0);
    if (doubt === null || steadyMs >= PROOF_MS) return { confirmed: now, doubt: null, setBackMs };
    return { confirmed, doubt: { ...doubt, last: now, steadyMs }, setBackMs };
  }
  if (jumpBetween(confirmed, now) === 0) return { confirmed: now, doubt: null, setBackMs };
  return { confirmed, doubt: { since: now.at, movedMs, last: now, steadyMs: 0 }, setBackMs };
}

/**
 * The instant of a change: `nowMs`, or that of the change before when the clock has gone back a little since. A change by
 * a clock that was far ahead must not date all that follow it.
 */
export function notMuchBefore(nowMs: number, lastMs: number): number {
  return lastMs - nowMs > MOST_BACK_MS ? nowMs : Math.max(nowMs, lastMs);
}
