import { Turns } from '../../lib/turns.js';
import type { SessionOpening } from './open-session.js';
import type { SmarthostOptions } from './options.js';
import { SessionFailure } from './session-failure.js';
import type { SmtpSession } from './smtp-session.js';

/** A session for one submission. */
export interface Lease {
  readonly session: SmtpSession;
  /** It has carried a transaction before, so the server may have closed it since. */
  readonly isReused: boolean;
}

type Limits = Pick<
  SmarthostOptions,
  'maxConnections' | 'maxMessagesPerConnection' | 'waitMs' | 'idleMs' | 'quitMs'
>;

/** Gets a session that became free, or null for permission to open a new one. */
interface Waiter {
  /** False when it has waited for too long. */
  isWaiting: boolean;
  give(session: SmtpSession | null): void;
  fail(failure: SessionFailure): void;
}

/**
 * Sessions with the smarthost, at most `maxConnections`. One submission uses a session at a time; between submissions
 * it stays open for `idleMs`. When all sessions are in use, submissions wait for up to `waitMs`, and senders take turns.
 */
export class SessionPool {
  readonly #open: () => SessionOpening;
  readonly #limits: Limits;
  /** How many sessions are being opened, in use, idle, or being closed. */
  #places = 0;
  readonly #openings = new Set<SessionOpening>();
  readonly #sessions = new Set<SmtpSession>();
  /** Idle sessions with their timers. The one used last is used next, so that the others can reach their timeout. */
  readonly #idle = new Map<SmtpSession, NodeJS.Timeout>();
  readonly #waiting = new Turns<Waiter>();
  #isRetired = false;
  #isEnded = false;
  readonly #untilEmpty: (() => void)[] = [];

  constructor(open: () => SessionOpening, limits: Limits) {
    this.#open = open;
    this.#limits = limits;
  }

  /**
   * Takes a session for a message of this sender; `release`, or `replace` and then `release`, must follow.
   * @throws SessionFailure
   */
  async acquire(sender: string): Promise<Lease> {
    if (this.#isRetired) throw stopping();
    const idle = [...this.#idle.keys()].at(-1);
    if (idle !== undefined) {
      this.#unkeep(idle);
      return { session: idle, isReused: true };
    }
    if (this.#places < this.#limits.maxConnections) {
      this.#places += 1;
      return { session: await this.#openOne(), isReused: false };
    }
    const session = await this.#wait(sender);
    return session === null
      ? { session: await this.#openOne(), isReused: false }
      : { session, isReused: true };
  }

  /**
   * Opens a new session instead of one that is unusable. @throws SessionFailure; then nothing is to be released.
   */
  async replace(session: SmtpSession): Promise<SmtpSession> {
    this.#forget(session);
    return this.#openOne();
  }

  /** Gives a session back. `needsReset`: its transaction was not finished. */
  async release(session: SmtpSession, needsReset: boolean): Promise<void> {
    session.messages += 1;
    const isWorn = session.messages >= this.#limits.maxMessagesPerConnection;
    const isGood =
      session.isUsable &&
      !isWorn &&
      !this.#isRetired &&
      (!needsReset || (await session.reset(this.#limits.quitMs)));
    // Checked again: the pool may have been retired during the reset.
    if (!isGood || this.#isRetired) return this.#quit(session);
    const waiter = this.#nextWaiter();
    if (waiter === undefined) this.#keep(session);
    else waiter.give(session);
  }

  /** From now on no session is kept, and none is given out except to submissions that wait already. */
  retire(): void {
    this.#isRetired = true;
    for (const session of this.#idle.keys()) {
      this.#unkeep(session);
      void this.#quit(session);
    }
  }

  /** Ends everything at once: waiting submissions, sessions that are being opened, sessions in use. */
  end(): void {
    this.#isEnded = true;
    this.retire();
    for (const waiter of this.#waiting.drain()) waiter.fail(stopping());
    for (const opening of this.#openings) opening.abort(stopping());
    for (const session of this.#sessions) session.destroy();
  }

  /** Resolves when no session is left; `retire` must have been called. */
  async whenEmpty(): Promise<void> {
    if (this.#places === 0) return;
    await new Promise<void>(resolve => {
      this.#untilEmpty.push(resolve);
    });
  }

  async #openOne(): Promise<SmtpSession> {
    if (this.#isEnded) {
      this.#leavePlace();
      throw stopping();
    }
    const opening = this.#open();
    this.#openings.add(opening);
    try {
      const session = await opening.session;
      // The pool was ended while the session was being opened.
      if (this.#isEnded) session.destroy();
      this.#sessions.add(session);
      return session;
    } catch (error) {
      this.#leavePlace();
      throw error;
    } finally {
      this.#openings.delete(opening);
    }
  }

  #wait(sender: string): Promise<SmtpSession | null> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        waiter.isWaiting = false;
      };
      const waiter: Waiter = {
        isWaiting: true,
        give: session => {
          leave();
          resolve(session);
        },
        fail: failure => {
          leave();
          reject(failure);
        },
      };
      const timer = setTimeout(() => {
        const { maxConnections, waitMs } = this.#limits;
        const detail = `all ${maxConnections} connections were in use for ${waitMs} ms`;
        waiter.fail(new SessionFailure('E_RELAY_TIMEOUT', detail));
      }, this.#limits.waitMs);
      this.#waiting.add(sender, waiter);
    });
  }

  #nextWaiter(): Waiter | undefined {
    for (const waiter of this.#waiting.drain()) if (waiter.isWaiting) return waiter;
    return undefined;
  }

  #keep(session: SmtpSession): void {
    const timer = setTimeout(() => {
      this.#unkeep(session);
      void this.#quit(session);
    }, this.#limits.idleMs);
    // The server closed it, or sent a reply that nobody asked for.
    session.onDisturbed = () => {
      this.#unkeep(session);
      this.#forget(session);
      this.#leavePlace();
    };
    this.#idle.set(session, timer);
  }

  #unkeep(session: SmtpSession): void {
    clearTimeout(this.#idle.get(session));
    this.#idle.delete(session);
    session.onDisturbed = null;
  }

  async #quit(session: SmtpSession): Promise<void> {
    await session.quit(this.#limits.quitMs);
    this.#forget(session);
    this.#leavePlace();
  }

  #forget(session: SmtpSession): void {
    session.destroy();
    this.#sessions.delete(session);
  }

  #leavePlace(): void {
    const waiter = this.#nextWaiter();
    if (waiter !== undefined) {
      waiter.give(null);
      return;
    }
    this.#places -= 1;
    if (this.#places > 0) return;
    for (const resolve of this.#untilEmpty.splice(0)) resolve();
  }
}

function stopping(): SessionFailure {
  return new SessionFailure('E_RELAY_UNREACHABLE', 'the service is being stopped');
}
