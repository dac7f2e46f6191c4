import type { DnsAnswer, LastingAnswer } from './answer.js';
import type { DnsType } from './packet.js';

interface Kept {
  readonly answer: DnsAnswer<DnsType>;
  /** By the clock that is never set. */
  readonly until: number;
  readonly bytes: number;
}

/** An answer, how long it holds, and the size of the reply that it is from, which bounds its own. */
export interface KeptAnswer extends LastingAnswer<DnsType> {
  readonly replyBytes: number;
}

/** What an entry takes besides the reply. */
const ENTRY_BYTES = 400;
/** A TTL of days would outlast a mistake in a zone. */
const LONGEST_S = 3600;
/** That there is nothing is remembered for less time: it changes while somebody waits for it. */
const LONGEST_NOTHING_S = 300;

/** Answers for as long as they hold, and look-ups under way. When it is full, the oldest answers go first. */
export class AnswerCache {
  readonly #maxBytes: number;
  readonly #kept = new Map<string, Kept>();
  readonly #open = new Map<string, Promise<KeptAnswer>>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The answer that is kept, or that of `ask`, which is kept then. Who asks for the same meanwhile gets the same answer,
   * if it is of the same party: another may have to wait less for its turn.
   * @param ask never rejects
   */
  obtain(
    question: { readonly name: string; readonly type: DnsType; readonly party: string },
    ask: () => Promise<KeptAnswer>,
  ): KeptAnswer | Promise<KeptAnswer> {
    const key = `${question.type} ${question.name}`;
    const known = this.#get(key);
    if (known !== undefined) return known;
    const openKey = `${key} ${question.party}`;
    const open = this.#open.get(openKey);
    if (open !== undefined) return open;
    const asked = ask().then(kept => {
      this.#open.delete(openKey);
      this.#put(key, kept);
      return kept;
    });
    this.#open.set(openKey, asked);
    return asked;
  }

  /** With the seconds for which it still holds, and the bytes that were given with it. */
  #get(key: string): KeptAnswer | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    const ttlS = (kept.until - performance.now()) / 1000;
    if (ttlS > 0) return { answer: kept.answer, ttlS, replyBytes: kept.bytes - ENTRY_BYTES };
    this.#remove(key, kept);
    return undefined;
  }

  #put(key: string, { answer, ttlS, replyBytes }: KeptAnswer): void {
    const longest = answer.kind === 'found' ? LONGEST_S : LONGEST_NOTHING_S;
    const bytes = replyBytes + ENTRY_BYTES;
    const before = this.#kept.get(key);
    if (before !== undefined) this.#remove(key, before);
    if (answer.kind === 'failed' || ttlS <= 0 || bytes > this.#maxBytes) return;
    this.#kept.set(key, { answer, until: performance.now() + Math.min(ttlS, longest) * 1000, bytes });
    this.#bytes += bytes;
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest, kept);
    }
  }

  #remove(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
  }
}
