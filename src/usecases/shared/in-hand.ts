import type { ErrorCode } from '../../contract/errors.js';
import { Refusal } from '../../domain/errors.js';
import { FairShare } from '../../lib/async.js';

const MIB = 2 ** 20;

/**
 * How much memory requests may have in hand together, and those of one account: bodies that are being read or wait to
 * be worked on, and contents that are being worked on, until they are stored or sent. Both are counted in bytes of
 * content; work on a content takes `COPIES_AT_WORK` times its size (texts, decoded files, the message made of them).
 */
const IN_HAND = {
  bodies: { capacity: 64 * MIB, perParty: 16 * MIB },
  work: { capacity: 16 * MIB, perParty: 8 * MIB },
} as const;

/** Measured, garbage that has not been collected included (test/abuse/large-bodies-fit-into-memory.test.ts). */
const COPIES_AT_WORK = 12;

/** What all of that may cost. */
export const IN_HAND_BYTES = IN_HAND.bodies.capacity + IN_HAND.work.capacity * COPIES_AT_WORK;

/** Less than this is not counted: a connection costs as much. */
export const SMALL_BYTES = 64 * 1024;

/** How long a request waits for its turn. */
const MAX_WAIT_MS = 15_000;
/** When whoever was sent away may come again, in seconds. */
const RETRY_AFTER_S = 5;

/** The memory that requests have in hand. */
export class MemoryInHand {
  readonly #waitMs: number;
  /** Who has a body never waits for one again, and who works never waits for a body: nobody waits in a circle. */
  readonly bodies = new FairShare(IN_HAND.bodies);
  readonly work = new FairShare(IN_HAND.work);

  constructor(waitMs = MAX_WAIT_MS) {
    this.#waitMs = waitMs;
  }

  /**
   * What a request has in hand: nothing at first.
   * @param party the account; for requests without one, the client
   * @param busy the code with which it is refused when its turn does not come
   */
  hand(party: string, busy: ErrorCode): Hand {
    return new Hand(this, party, busy, this.#waitMs);
  }
}

/** The memory that one request has in hand. */
export class Hand {
  readonly #memory: MemoryInHand;
  readonly #party: string;
  readonly #busy: ErrorCode;
  readonly #waitMs: number;
  #letGoOfBody: (() => void) | null = null;
  #letGoOfWork: (() => void) | null = null;
  #workBytes = 0;

  constructor(memory: MemoryInHand, party: string, busy: ErrorCode, waitMs: number) {
    this.#memory = memory;
    this.#party = party;
    this.#busy = busy;
    this.#waitMs = waitMs;
  }

  /** Does it hold room for a body, which others wait for? */
  get isLarge(): boolean {
    return this.#letGoOfBody !== null;
  }

  /** Waits for room for a body of up to `bytes`. Refuses when there is none in time. */
  async takeBody(bytes: number): Promise<void> {
    this.#letGoOfBody = await this.#take(this.#memory.bodies, bytes);
  }

  /** Waits until `bytes` of content may be worked on, besides those before. Refuses when that is not in time. */
  async takeWork(bytes: number): Promise<void> {
    this.#workBytes += bytes;
    if (this.#workBytes < SMALL_BYTES) return;
    // Who waited for more while it keeps some could wait for another who does the same.
    this.#letGoOfWork?.();
    this.#letGoOfWork = await this.#take(this.#memory.work, this.#workBytes);
  }

  /** All is stored, or has failed: others may have the memory. */
  letGo(): void {
    this.#letGoOfBody?.();
    this.#letGoOfWork?.();
    this.#letGoOfBody = null;
    this.#letGoOfWork = null;
    this.#workBytes = 0;
  }

  async #take(share: FairShare, bytes: number): Promise<() => void> {
    const letGo = await share.take(this.#party, bytes, this.#waitMs);
    if (letGo === null) throw busy(this.#busy);
    return letGo;
  }
}

function busy(code: ErrorCode): Refusal {
  return new Refusal({
    code,
    message: `Other large requests are in hand; nothing of this one was done. Repeat it in ${RETRY_AFTER_S} seconds, and send large requests one after the other.`,
    retryAfterS: RETRY_AFTER_S,
  });
}
