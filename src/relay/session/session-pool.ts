import { FairShare } from '../../lib/async.js';
import { SessionFailure, stopping } from './session-failure.js';
import type { SessionOpening } from './session-opening.js';
import type { SmtpSession } from './smtp-session.js';

/** What a message needs a session for. */
export interface SessionRequest {
  /** Parties share the connections fairly, and none has more than `maxPerParty`. */
  readonly party: string;
  /** What a new session is kept as. */
  readonly key: string;
  /** Kept sessions with one of these keys will do. */
  readonly reuse: readonly string[];
  open(): SessionOpening;
}

/** A session for one message. */
export interface Lease {
  readonly session: SmtpSession;
  /** It has carried a transaction before, so the server may have closed it since. */
  readonly isReused: boolean;
  readonly key: string;
  /** Ends the use of its place among the connections. */
  readonly leave: () => void;
}

export interface PoolLimits {
  /** Connections at any time, the idle ones included. */
  readonly maxConnections: number;
  /** Connections in use for one party. */
  readonly maxPerParty: number;
  readonly maxMessagesPerConnection: number;
  /** For a free connection, when all are in use. */
  readonly waitMs: number;
  /** How long an idle connection is kept open. */
  readonly idleMs: number;
  /** For the reply to RSET and QUIT, for which no message waits. */
  readonly quitMs: number;
}

interface Kept {
  readonly key: string;
  readonly timer: NodeJS.Timeout;
}

/**
 * SMTP sessions, at most `maxConnections`. One message uses a session at a time; between messages it stays open for
 * `idleMs`, unless its place is needed for another server. When all are in use, messages wait for up to `waitMs`, and
 * parties take turns.
 */
export class SessionPool {
  readonly #limits: PoolLimits;
  /** One for each connection that is being opened, in use, or being closed after use. */
  readonly #places: FairShare;
  readonly #openings = new Set<SessionOpening>();
  readonly #sessions = new Set<SmtpSession>();
  readonly #inUse = new Set<SmtpSession>();
  /** Idle sessions. The one used last is used next, so that the others can reach their timeout. */
  readonly #kept = new Map<SmtpSession, Kept>();
  #isRetired = false;
  #isEnded = false;
  readonly #untilEmpty: (() => void)[] = [];

  constructor(limits: PoolLimits) {
    this.#limits = limits;
    this.#places = new FairShare({ capacity: limits.maxConnections, perParty: limits.maxPerParty });
  }

  /**
   * Takes a session; `release` must follow.
   * @throws SessionFailure
   */
  async acquire(request: SessionRequest): Promise<Lease> {
    if (this.#isEnded) throw stopping();
    const { maxConnections, maxPerParty, waitMs } = this.#limits;
    const leave = await this.#places.take(request.party, 1, waitMs);
    if (leave === null) {
      const count = Math.min(maxConnections, maxPerParty);
      throw new SessionFailure('busy', `all ${count} connections were in use for ${waitMs} ms`);
    }
    try {
      if (this.#isEnded) throw stopping();
      const kept = this.#takeKept(request.reuse);
      const taken = kept ?? { session: await this.#open(request), key: request.key };
      this.#inUse.add(taken.session);
      return { ...taken, isReused: kept !== null, leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Gives a session back. `needsReset`: its transaction was not finished. */
  async release({ session, key, leave }: Lease, needsReset: boolean): Promise<void> {
    this.#inUse.delete(session);
    session.messages += 1;
    const isWorn = session.messages >= this.#limits.maxMessagesPerConnection;
    const isGood =
      session.isUsable &&
      !isWorn &&
      !this.#isRetired &&
      (!needsReset || (await session.reset(this.#limits.quitMs)));
    // Checked again: the pool may have been retired during the reset.
    if (isGood && !this.#isRetired) this.#keep(session, key);
    else await this.#quit(session);
    leave();
  }

  /** From now on no session is kept open for a later message. */
  retire(): void {
    this.#isRetired = true;
    for (const session of [...this.#kept.keys()]) {
      this.#unkeep(session);
      void this.#quit(session);
    }
  }

  /**
   * Ends waiting messages, sessions that are being opened, and sessions in use, except those that `mayGoOn`. Whoever
   * waits for the place of one of these hears of it when that one has ended.
   */
  halt(mayGoOn: (session: SmtpSession) => boolean): void {
    this.#isEnded = true;
    this.retire();
    for (const opening of this.#openings) opening.abort(stopping());
    for (const session of this.#inUse) if (!mayGoOn(session)) session.destroy();
  }

  /** Ends everything at once. */
  end(): void {
    this.halt(() => false);
    for (const session of this.#sessions) session.destroy();
  }

  /** Resolves when no session is left; `retire` must have been called. */
  async whenEmpty(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>(resolve => {
      this.#untilEmpty.push(resolve);
    });
  }

  get #count(): number {
    return this.#openings.size + this.#sessions.size;
  }

  async #open(request: SessionRequest): Promise<SmtpSession> {
    await this.#makeRoom();
    if (this.#isEnded) throw stopping();
    const opening = request.open();
    this.#openings.add(opening);
    try {
      const session = await opening.session;
      this.#sessions.add(session);
      // The pool was ended while the session was being opened.
      if (this.#isEnded) session.destroy();
      return session;
    } finally {
      this.#openings.delete(opening);
      this.#tellIfEmpty();
    }
  }

  /** Idle sessions hold no place: the oldest gives way to a new one. */
  async #makeRoom(): Promise<void> {
    while (this.#count >= this.#limits.maxConnections) {
      const [oldest] = this.#kept.keys();
      if (oldest === undefined) return;
      this.#unkeep(oldest);
      await this.#quit(oldest);
    }
  }

  #takeKept(keys: readonly string[]): Pick<Lease, 'session' | 'key'> | null {
    const [session, kept] = [...this.#kept].findLast(([, { key }]) => keys.includes(key)) ?? [];
    if (session === undefined || kept === undefined) return null;
    this.#unkeep(session);
    return { session, key: kept.key };
  }

  #keep(session: SmtpSession, key: string): void {
    const timer = setTimeout(() => {
      this.#unkeep(session);
      void this.#quit(session);
    }, this.#limits.idleMs);
    // The server closed it, or sent a reply that nobody asked for.
    session.onDisturbed = () => {
      this.#unkeep(session);
      this.#forget(session);
    };
    this.#kept.set(session, { key, timer });
  }

  #unkeep(session: SmtpSession): void {
    clearTimeout(this.#kept.get(session)?.timer);
    this.#kept.delete(session);
    session.onDisturbed = null;
  }

  async #quit(session: SmtpSession): Promise<void> {
    await session.quit(this.#limits.quitMs);
    this.#forget(session);
  }

  #forget(session: SmtpSession): void {
    session.destroy();
    this.#sessions.delete(session);
    this.#tellIfEmpty();
  }

  #tellIfEmpty(): void {
    if (this.#count > 0) return;
    for (const resolve of this.#untilEmpty.splice(0)) resolve();
  }
}
