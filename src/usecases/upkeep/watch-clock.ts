import {
  type ClockDoubt,
  type ClockReading,
  type ClockState,
  nextClockState,
  PROOF_MS,
} from '../../domain/clock.js';
import { instantOfId, takeIdsBack } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { reasonOf } from '../../lib/async.js';
import { range, WHOLE_TABLE } from '../../store/engine/keys.js';
import { getMeta, putMeta } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { messagesTable, sentTable } from '../../store/mailbox/messages.js';
import { auditTable } from '../../store/records/approvals.js';
import type { Clock, Logger } from '../ports.js';

/**
 * Wall time may jump: an NTP server lies, somebody mistypes a date, a battery is empty. What is then done in seconds
 * cannot be undone: Trash is erased, keys are forgotten, queued mail is given up. So the clock is held against the time
 * since the machine was started, and across starts against the last instant in the store. From a jump on it is in
 * doubt, until it goes back to where it should be, has run on without another jump for a day, or an admin confirms it
 * (`postern clock accept`). Answers go by the clock as it is meanwhile; nothing is destroyed for being old.
 *
 * The state is in the store, so that a restart does not forget it and the command line can change it beside the
 * daemon. It is written when it changes, and else once in a minute.
 */
export interface WatchClockDeps {
  readonly store: Store;
  readonly read: () => ClockReading;
  readonly log: Logger;
}

/** How often the state in the store is looked at. */
const LOOK_MS = 1_000;
/** How old the last instant in the store may be. */
const MARK_MS = 60_000;
/** A clock that has moved by this against the monotonic one since the last look is looked at at once. */
const SUSPICIOUS_MS = 60_000;

export class ClockWatch {
  readonly #deps: WatchClockDeps;
  #state: ClockState;
  /** What to add to the monotonic clock to get the time, as of the last look. */
  #offsetMs: number;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  /** The clock that is watched: every reading of it is checked, so a jump is known before anything is done by it. */
  readonly clock: Clock;

  private constructor(deps: WatchClockDeps) {
    this.#deps = deps;
    const { at } = deps.read();
    this.#offsetMs = at - performance.now();
    this.#state = this.#look();
    const now = (): number => this.#now();
    this.clock = Object.defineProperties(now, {
      setBackMs: { get: () => this.#state.setBackMs },
      isInDoubt: { get: () => this.#state.doubt !== null },
    });
    if (this.#state.doubt !== null) this.#tell(this.#state.doubt);
  }

  /** Looks at the clock before anything goes by it, and from then on every second. */
  static async start(deps: WatchClockDeps): Promise<ClockWatch> {
    const watch = new ClockWatch(deps);
    await watch.#saving;
    watch.#timer = setInterval(() => watch.#lookAgain(), LOOK_MS).unref();
    return watch;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#saving;
  }

  #now(): number {
    const at = Date.now();
    if (Math.abs(at - performance.now() - this.#offsetMs) > SUSPICIOUS_MS) this.#lookAgain();
    return at;
  }

  #lookAgain(): void {
    const before = this.#state;
    this.#state = this.#look();
    const { doubt, setBackMs } = this.#state;
    if (setBackMs > before.setBackMs) takeIdsBack();
    if (doubt === null) {
      if (before.doubt !== null)
        this.#deps.log.warn({}, 'the clock is confirmed: what waited for it goes on');
    } else if (Math.abs((before.doubt?.movedMs ?? 0) - doubt.movedMs) > SUSPICIOUS_MS) this.#tell(doubt);
  }

  /** The state as the store has it and one reading more. */
  #look(): ClockState {
    const { store, read } = this.#deps;
    const reading = read();
    this.#offsetMs = reading.at - performance.now();
    const stored = store.read(storedState);
    const next = nextClockState(stored, reading);
    if (stored === null || isWorthKeeping(stored, next)) this.#save(reading);
    return next;
  }

  #save(reading: ClockReading): void {
    const { store, log } = this.#deps;
    this.#saving = store
      .write(writer => keepReading(writer, reading), 'settle')
      .catch((error: unknown) =>
        log.error({ reason: reasonOf(error) }, 'the state of the clock could not be saved'),
      );
  }

  #tell({ movedMs, since }: ClockDoubt): void {
    this.#deps.log.error(
      { clock: toInstant(since), moved_s: Math.round(movedMs / 1000) },
      'the clock of this machine has jumped: until it is right again, has run on for a day, or "postern clock accept" ' +
        'confirms it, nothing is erased from Trash, forgotten or given up for being old. See "postern clock show"',
    );
  }
}

function isWorthKeeping(stored: ClockState, next: ClockState): boolean {
  if (stored.doubt?.since !== next.doubt?.since || stored.setBackMs !== next.setBackMs) return true;
  const [before, now] = [stored.doubt?.last ?? stored.confirmed, next.doubt?.last ?? next.confirmed];
  return before.bootId !== now.bootId || now.bootMs - before.bootMs >= MARK_MS;
}

/** In the unit of work: the state may have been written meanwhile, by the command line. */
function keepReading(writer: Writer, reading: ClockReading): void {
  putMeta(writer, 'clock', nextClockState(storedState(writer), reading));
}

/** Null in a store that holds nothing yet. One that was never watched tells by its records when it was last in use. */
function storedState(reader: Reader): ClockState | null {
  const state = getMeta(reader, 'clock');
  if (state !== undefined) return state;
  const at = lastInstant(reader);
  return at === null ? null : { confirmed: { at, bootId: '', bootMs: 0 }, doubt: null, setBackMs: 0 };
}

function lastInstant(reader: Reader): number | null {
  const newest = { ...range(WHOLE_TABLE), reverse: true, limit: 1 };
  const instants = [messagesTable, sentTable, auditTable].flatMap(table =>
    reader.scanKeys(table as typeof messagesTable, newest).map(instantOfId),
  );
  const marks = [getMeta(reader, 'daemon')?.startedAt, getMeta(reader, 'provedAt')].flatMap(at => at ?? []);
  const all = [...instants, ...marks];
  return all.length === 0 ? null : Math.max(...all);
}

/** The clock of a process beside the daemon: what it was set back by is what the store has. */
export function storedClock(store: Store): Clock {
  return Object.defineProperties(() => Date.now(), {
    setBackMs: { get: () => store.read(reader => getMeta(reader, 'clock'))?.setBackMs ?? 0 },
  });
}

/** How far the clock can be relied on, for an admin. */
export interface ClockView {
  /** What the clock says. */
  readonly now: string;
  readonly is_confirmed: boolean;
  /** What it said at the last reading before it jumped; now, while it is confirmed. */
  readonly last_confirmed_at: string;
  /** What it said when the jump was noticed; null while it is confirmed. */
  readonly in_doubt_since: string | null;
  /** By how many seconds it had been moved; null while it is confirmed. */
  readonly moved_s: number | null;
  /** How much longer it has to run without another jump to be confirmed by that; null while it is confirmed. */
  readonly confirmed_in_s: number | null;
}

export function viewClock(deps: Pick<WatchClockDeps, 'store' | 'read'>): ClockView {
  const now = deps.read();
  const { confirmed, doubt } = nextClockState(deps.store.read(storedState), now);
  return {
    now: toInstant(now.at),
    is_confirmed: doubt === null,
    last_confirmed_at: toInstant(confirmed.at),
    in_doubt_since: doubt === null ? null : toInstant(doubt.since),
    moved_s: doubt === null ? null : Math.round(doubt.movedMs / 1000),
    confirmed_in_s: doubt === null ? null : Math.ceil((PROOF_MS - doubt.steadyMs) / 1000),
  };
}

/** `postern clock accept`: the clock is right as it is. A daemon that runs takes note within seconds. */
export async function acceptClock(deps: Pick<WatchClockDeps, 'store' | 'read'>): Promise<ClockView> {
  await deps.store.write(writer => {
    const reading = deps.read();
    const { setBackMs } = nextClockState(storedState(writer), reading);
    putMeta(writer, 'clock', { confirmed: reading, doubt: null, setBackMs });
  }, 'settle');
  return viewClock(deps);
}
