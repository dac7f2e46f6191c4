import { randomBytes } from 'node:crypto';
import type { AccountId, ThreadId } from '../../domain/ids.js';
import type { NumberSet } from '../../store/bitmap/number-set.js';
import type { MessageKind } from '../../store/mailbox/folders.js';

/** Messages of a folder in the order of relevance. */
export interface RankedMessages {
  readonly type: 'messages';
  readonly seqs: readonly number[];
}

/** Conversations in the order of their most relevant message, and every message that the search has found. */
export interface RankedThreads {
  readonly type: 'threads';
  readonly roots: readonly ThreadId[];
  readonly found: Readonly<Record<MessageKind, NumberSet>>;
}

export type Ranking = RankedMessages | RankedThreads;

interface Kept {
  readonly accountId: AccountId;
  readonly ranking: Ranking;
  readonly bytes: number;
  usedAt: number;
}

export interface RankingLimits {
  /** How long a ranking is kept after it was last used. */
  readonly keptMs: number;
  /** For one account; a further search takes the place of the one that was used least recently. */
  readonly perAccount: number;
  /** For all accounts together, about. */
  readonly maxBytes: number;
}

export const RANKING_LIMITS: RankingLimits = { keptMs: 600_000, perAccount: 16, maxBytes: 16 * 2 ** 20 };

/**
 * Searches by relevance whose further pages may still be asked for. They are kept in memory alone: a restart forgets
 * them. Where they have no more room, the account that keeps most gives way.
 */
export class Rankings {
  readonly #limits: RankingLimits;
  readonly #now: () => number;
  /** Those used least recently first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(limits = RANKING_LIMITS, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Bytes that they all take, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a ranking; returns the name to ask for it by. */
  keep(accountId: AccountId, ranking: Ranking): string {
    this.#expire();
    const own = this.#namesOf(accountId);
    if (own[0] !== undefined && own.length >= this.#limits.perAccount) this.#forget(own[0]);
    const name = randomBytes(9).toString('base64url');
    const bytes = bytesOf(ranking);
    this.#kept.set(name, { accountId, ranking, bytes, usedAt: this.#now() });
    this.#bytes += bytes;
    while (this.#bytes > this.#limits.maxBytes) {
      const [oldest] = this.#namesOf(this.#largestAccount());
      if (oldest === undefined) break;
      this.#forget(oldest);
    }
    return name;
  }

  /** Null when it is kept no longer, or was made for another account. */
  find(accountId: AccountId, name: string): Ranking | null {
    this.#expire();
    const kept = this.#kept.get(name);
    if (kept === undefined || kept.accountId !== accountId) return null;
    kept.usedAt = this.#now();
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    return kept.ranking;
  }

  #namesOf(accountId: AccountId): string[] {
    return [...this.#kept].flatMap(([name, kept]) => (kept.accountId === accountId ? [name] : []));
  }

  #largestAccount(): AccountId {
    const bytes = new Map<AccountId, number>();
    for (const kept of this.#kept.values()) {
      bytes.set(kept.accountId, (bytes.get(kept.accountId) ?? 0) + kept.bytes);
    }
    const [largest] = [...bytes].sort(([, one], [, other]) => other - one);
    return largest?.[0] ?? ('' as AccountId);
  }

  #expire(): void {
    const since = this.#now() - this.#limits.keptMs;
    for (const [name, { usedAt }] of this.#kept) {
      if (usedAt > since) return;
      this.#forget(name);
    }
  }

  #forget(name: string): void {
    this.#bytes -= this.#kept.get(name)?.bytes ?? 0;
    this.#kept.delete(name);
  }
}

/** A number in an array, and an id with its characters, as Node keeps them. */
const BYTES = { overhead: 500, number: 8, id: 64 } as const;

function bytesOf(ranking: Ranking): number {
  if (ranking.type === 'messages') return BYTES.overhead + BYTES.number * ranking.seqs.length;
  const { roots, found } = ranking;
  return BYTES.overhead + BYTES.id * roots.length + found.received.bytes + found.sent.bytes;
}
