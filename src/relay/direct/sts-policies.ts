import type { Dns } from '../../dns/dns-client.js';
import { type StsPolicy, stsIdOf } from '../../domain/mta-sts.js';
import { reasonOf } from '../../lib/async.js';
import type { Clock, Logger } from '../../usecases/ports.js';
import type { FetchedPolicy } from './fetch-policy.js';

/** Where policies are kept over restarts of the daemon. */
export interface StsPolicyShelf {
  get(domain: string): StsPolicy | undefined;
  put(domain: string, policy: StsPolicy): Promise<void>;
}

export interface StsPoliciesDeps {
  readonly dns: Dns;
  readonly shelf: StsPolicyShelf;
  /** `fetchPolicy`. */
  readonly fetch: (domain: string) => Promise<FetchedPolicy>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** An unchanged policy is fetched again after this time, so that it does not expire while mail goes there. */
const REFRESH_MS = 24 * 3_600_000;
/** A policy that could not be fetched is not asked for again before this time (RFC 8461 section 3.3). */
const REST_MS = 5 * 60_000;
const MAX_RESTS = 1_000;

/** The MTA-STS policies of domains (RFC 8461). */
export class StsPolicies {
  readonly #deps: StsPoliciesDeps;
  readonly #open = new Map<string, Promise<StsPolicy | null>>();
  /** Domain -> when its policy may be fetched again, by the clock that is never set. */
  readonly #rests = new Map<string, number>();

  constructor(deps: StsPoliciesDeps) {
    this.#deps = deps;
  }

  /**
   * The policy of a domain that holds now; null when there is none. One that is kept holds until it expires, whatever
   * the DNS and the policy host say or do not say meanwhile, unless they give another (section 5.1). Never rejects.
   */
  async policyOf(domain: string): Promise<StsPolicy | null> {
    const kept = this.keptFor(domain);
    const answer = await this.#deps.dns.lookup(`_mta-sts.${domain}`, 'TXT');
    const id = answer.kind === 'found' ? stsIdOf(answer.records) : null;
    if (id === null) return kept;
    const isFresh = kept !== null && this.#deps.clock() - kept.fetchedAt < REFRESH_MS;
    if ((isFresh && kept.id === id) || this.#isResting(domain)) return kept;
    const open = this.#open.get(domain);
    if (open !== undefined) return open;
    const fetched = this.#fetch(domain, id, kept).finally(() => this.#open.delete(domain));
    this.#open.set(domain, fetched);
    return fetched;
  }

  /** The policy that is kept and has not expired, without asking anybody. */
  keptFor(domain: string): StsPolicy | null {
    const { shelf, clock, log } = this.#deps;
    try {
      const kept = shelf.get(domain);
      return kept !== undefined && kept.expiresAt > clock() ? kept : null;
    } catch (error) {
      log.error({ domain, reason: reasonOf(error) }, 'the MTA-STS policy of a domain cannot be read');
      return null;
    }
  }

  async #fetch(domain: string, id: string, kept: StsPolicy | null): Promise<StsPolicy | null> {
    const { fetch, clock, shelf, log } = this.#deps;
    const fetched = await fetch(domain);
    if (!fetched.ok) {
      this.#rest(domain);
      log.warn({ domain, reason: fetched.reason }, 'the MTA-STS policy of a domain could not be fetched');
      return kept;
    }
    const { mode, mx, maxAgeS } = fetched.policy;
    const now = clock();
    const policy: StsPolicy = { id, mode, mx, fetchedAt: now, expiresAt: now + maxAgeS * 1000 };
    await shelf.put(domain, policy).catch((error: unknown) => {
      log.error({ domain, reason: reasonOf(error) }, 'the MTA-STS policy of a domain could not be kept');
    });
    return policy;
  }

  #isResting(domain: string): boolean {
    return (this.#rests.get(domain) ?? Number.NEGATIVE_INFINITY) > performance.now();
  }

  #rest(domain: string): void {
    this.#rests.delete(domain);
    this.#rests.set(domain, performance.now() + REST_MS);
    const [oldest] = this.#rests.keys();
    if (this.#rests.size > MAX_RESTS && oldest !== undefined) this.#rests.delete(oldest);
  }
}
