import { setMaxListeners } from 'node:events';
import { FairShare } from '../lib/async.js';
import { answerOf, type DnsAnswer } from './answer.js';
import { AnswerCache, type KeptAnswer } from './answer-cache.js';
import { exchange } from './exchange.js';
import { type DnsType, isName, plainName } from './packet.js';
import { type DnsServer, type ServersOptions, serversOf } from './servers.js';

/** Asks the DNS. */
export interface Dns {
  /**
   * The records of a name, which is absolute with or without a final dot. Never rejects, and answers within
   * `DnsTimes.totalMs`, waiting for others included.
   */
  lookup<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>>;
}

/** In milliseconds. */
export interface DnsTimes {
  /** For the first try with a server; the second has half as long again. */
  readonly tryMs: number;
  /** For a look-up as a whole. */
  readonly totalMs: number;
}

/** How parties, who are named with a question, share the questions that are open at once. */
export interface DnsShares {
  /** Open questions of one party. */
  readonly perParty: number;
  /** How long a question waits for its turn, in milliseconds; then it has failed. */
  readonly turnMs: number;
}

export interface DnsClientOptions extends ServersOptions {
  readonly times?: DnsTimes;
  /** Without it there is one party, which may have all. */
  readonly shares?: DnsShares;
}

const TIMES: DnsTimes = { tryMs: 3000, totalMs: 12_000 };
const ROUNDS = 2;
/** Questions that are open at once; each takes a socket. */
export const MAX_OPEN = 200;
/** What answers that are remembered may take of memory. */
export const CACHE_BYTES = 8 * 2 ** 20;

/** A stub resolver (RFC 1034 section 5.3.1): it asks the resolvers it was given, in their order. */
export class DnsClient implements Dns {
  readonly #servers: () => readonly DnsServer[];
  readonly #times: DnsTimes;
  readonly #cache = new AnswerCache(CACHE_BYTES);
  readonly #places: FairShare;
  readonly #turnMs: number;
  readonly #closing = new AbortController();
  #replies = 0;

  constructor(options: DnsClientOptions) {
    this.#servers = serversOf(options);
    this.#times = options.times ?? TIMES;
    const { perParty, turnMs } = options.shares ?? { perParty: MAX_OPEN, turnMs: this.#times.totalMs };
    this.#places = new FairShare({ capacity: MAX_OPEN, perParty });
    this.#turnMs = turnMs;
    setMaxListeners(0, this.#closing.signal);
  }

  /** Does the word of any of the resolvers count, that an answer was validated? Without that there is no DANE. */
  get trustsAResolver(): boolean {
    return this.#servers().some(server => server.isTrusted);
  }

  async lookup<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>> {
    // Whatever is kept under a key is of the type in that key.
    return (await this.lookupLasting(name, type)).answer as DnsAnswer<Type>;
  }

  /**
   * As `lookup`, with how long the answer holds, for who keeps it elsewhere.
   * @param party for whom it is asked (`DnsShares`)
   */
  async lookupLasting(name: string, type: DnsType, party = ''): Promise<KeptAnswer> {
    const plain = plainName(name);
    // The codec would make a question about another name of it.
    if (!isName(plain)) return { answer: { kind: 'no_name', isAuthentic: false }, ttlS: 0, replyBytes: 0 };
    return this.#cache.obtain({ name: plain, type, party }, () => this.#inTurn(plain, type, party));
  }

  /** Look-ups under way fail at once, and later ones too. No socket is left. */
  close(): void {
    this.#closing.abort();
  }

  /** How many replies have come, whatever they say: does anybody answer at all? */
  get replies(): number {
    return this.#replies;
  }

  async #inTurn(name: string, type: DnsType, party: string): Promise<KeptAnswer> {
    const endsAt = performance.now() + this.#times.totalMs;
    const giveBack = await this.#places.take(party, 1, this.#turnMs);
    if (giveBack === null) return failed(NO_TIME);
    try {
      return await this.#ask(name, type, endsAt);
    } finally {
      giveBack();
    }
  }

  async #ask(name: string, type: DnsType, endsAt: number): Promise<KeptAnswer> {
    let reason = NO_TIME;
    const refused = new Set<DnsServer>();
    const servers = this.#servers();
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of servers) {
        const leftMs = endsAt - performance.now();
        if (refused.has(server) || leftMs <= 0 || this.#closing.signal.aborted) continue;
        const tryMs = this.#times.tryMs * (1 + round / 2);
        const timeoutMs = Math.min(leftMs, tryMs);
        const outcome = await exchange(server, { name, type }, timeoutMs, this.#closing.signal);
        if (outcome.kind === 'failed') {
          reason = `${server.address}: ${outcome.reason}`;
          continue;
        }
        this.#replies++;
        const lasting = answerOf(outcome.reply, name, type, server.isTrusted);
        if (lasting.answer.kind !== 'failed') return { ...lasting, replyBytes: outcome.bytes };
        // It would say the same again; another may know better.
        refused.add(server);
        reason = `${server.address}: ${lasting.answer.reason}`;
      }
    }
    return failed(reason);
  }
}

const NO_TIME = 'no resolver had time to answer';

/** The answer when there is none. */
export function failed(reason: string): KeptAnswer {
  return { answer: { kind: 'failed', reason }, ttlS: 0, replyBytes: 0 };
}
