import { FairShare, reasonOf, settledWithin } from '../../lib/async.js';
import type { Deliverer, DeliveryJob, DeliveryOutcome, Logger } from '../../usecases/ports.js';
import { SessionPool } from '../session/session-pool.js';
import { Attempt, type HostsRoute } from './attempt.js';
import type { DirectOptions } from './options.js';
import { type Ending, ending } from './outcome.js';
import { Pace, type PaceOptions } from './pace.js';
import type { Route, RouteFinder } from './route.js';

export interface DirectDelivererOptions {
  readonly options: DirectOptions;
  readonly routes: RouteFinder;
  readonly log: Logger;
  /** A domain may have more messages on their way than before (`limitOf`). */
  readonly onFaster?: () => void;
  /** For tests. */
  readonly pace?: Partial<PaceOptions>;
}

/** A rest of a minute, then of two, up to a quarter of an hour. */
const PACE = { maxKnown: 2_000, firstMs: 60_000, longestMs: 15 * 60_000 } as const;

const STOPPED = '4.3.2';
/** It is no attempt, and is due again when the service starts. */
const STOPPING: Ending = { ...ending('later', STOPPED, 'the service is being stopped'), retryAfterMs: 0 };

/**
 * Delivers to the mail servers of other domains (RFC 5321 section 5.1), each message at most once in an attempt.
 *
 * Connections are limited in all, for each MX host and for each domain, and are kept for the next message to the same
 * host. Messages for which there is none wait in memory: the caller decides how many are in hand at a time.
 */
export class DirectDeliverer implements Deliverer {
  readonly #options: DirectOptions;
  readonly #routes: RouteFinder;
  readonly #log: Logger;
  readonly #pool: SessionPool;
  readonly #domains: FairShare;
  /** Of domains, and of hosts (`hostKey`). */
  readonly #pace: Pace;
  readonly #inFlight = new Set<Promise<readonly DeliveryOutcome[]>>();
  readonly #attempts = new Set<Attempt>();
  /** What to do when closing begins. */
  readonly #onClosing = new Set<() => void>();
  #isClosing = false;

  constructor({ options, routes, log, pace, onFaster = () => undefined }: DirectDelivererOptions) {
    this.#options = options;
    this.#routes = routes;
    this.#log = log;
    this.#pool = new SessionPool(options);
    this.#domains = new FairShare({ capacity: Number.MAX_SAFE_INTEGER, perParty: options.maxPerDomain });
    this.#pace = new Pace({ usual: options.maxPerDomain, onFaster, ...PACE, ...pace });
  }

  /** Messages that may be on their way to a domain now; 0 while it rests, because it asked for a slower pace. */
  limitOf(domain: string): number {
    return this.#pace.limitOf(domain);
  }

  /** Never rejects. */
  deliver(job: DeliveryJob): Promise<readonly DeliveryOutcome[]> {
    const delivery = this.#deliver(job);
    this.#inFlight.add(delivery);
    void delivery.finally(() => this.#inFlight.delete(delivery));
    return delivery;
  }

  /**
   * No further final dot leaves. Messages whose dot has not left end as `later` at once; replies to those that have
   * left are waited for up to `graceMs`, then they are `unknown`. Resolves when no socket and no timer is left.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#pace.close();
    for (const stop of this.#onClosing) stop();
    this.#pool.halt(session => [...this.#attempts].some(attempt => attempt.dotOutOn === session));
    await settledWithin(graceMs, [...this.#inFlight, this.#pool.whenEmpty()]);
    this.#pool.end();
    await Promise.allSettled([...this.#inFlight, this.#pool.whenEmpty()]);
  }

  /** @returns null when closing begins before the work has ended */
  #unlessClosing<T>(work: Promise<T>): Promise<T | null> {
    return new Promise((resolve, reject) => {
      const stop = (): void => resolve(null);
      this.#onClosing.add(stop);
      work.then(resolve, reject).finally(() => this.#onClosing.delete(stop));
    });
  }

  /** How long all hosts rest; 0 when one of them does not. */
  #restOfHosts({ hosts }: HostsRoute): number {
    return Math.min(...hosts.map(({ name }) => this.#pace.restOf(hostKey(name))));
  }

  #learn(domain: string, outcomes: readonly DeliveryOutcome[]): void {
    if (outcomes.some(({ isThrottled }) => isThrottled === true)) {
      this.#pace.slower(domain);
      return;
    }
    const taken = outcomes.find(({ state }) => state === 'delivered');
    if (taken === undefined) return;
    this.#pace.succeeded(domain);
    if (taken.host !== null) this.#pace.succeeded(hostKey(taken.host));
  }

  async #deliver(job: DeliveryJob): Promise<readonly DeliveryOutcome[]> {
    if (this.#isClosing) return forAll(job, STOPPING);
    let attempt: Attempt | null = null;
    try {
      const route = await this.#unlessClosing(this.#routes.find(job.domain));
      if (route === null) return forAll(job, STOPPING);
      if (route.kind !== 'hosts') return forAll(job, endingWithoutRoute(route));
      const restMs = Math.max(this.#pace.restOf(job.domain), this.#restOfHosts(route));
      if (restMs > 0) {
        this.#pace.restFor(job.domain, restMs);
        return forAll(job, resting(job.domain, restMs));
      }
      const leave = await this.#domains.take(job.domain, 1, this.#options.waitMs);
      if (leave === null) return forAll(job, tooManyForDomain(job.domain, this.#options));
      try {
        if (this.#isClosing) return forAll(job, STOPPING);
        const hosts = route.hosts.filter(({ name }) => this.#pace.restOf(hostKey(name)) === 0);
        attempt = new Attempt(
          job,
          { ...route, hosts },
          {
            pool: this.#pool,
            options: this.#options,
            isStopping: () => this.#isClosing,
            onThrottled: host => this.#pace.slower(hostKey(host)),
          },
        );
        this.#attempts.add(attempt);
        const outcomes = await attempt.run();
        this.#learn(job.domain, outcomes);
        return this.#isClosing ? outcomes.map(asStopped) : outcomes;
      } finally {
        if (attempt !== null) this.#attempts.delete(attempt);
        leave();
      }
    } catch (error) {
      this.#log.error({ id: job.id, domain: job.domain, error: reasonOf(error) }, 'a delivery failed here');
      const rest = ending('later', '4.3.0', 'an internal error');
      return attempt?.outcomes(rest) ?? forAll(job, rest);
    }
  }
}

/** What ended because we stop says nothing of the message. */
function asStopped(outcome: DeliveryOutcome): DeliveryOutcome {
  const isOurs = outcome.state === 'later' && outcome.code === STOPPED && outcome.isThrottled !== true;
  return isOurs ? { ...outcome, retryAfterMs: 0 } : outcome;
}

function hostKey(name: string): string {
  return `host ${name}`;
}

function resting(domain: string, retryAfterMs: number): Ending {
  const words = `${domain} has asked for a slower pace`;
  return { ...ending('later', '4.4.5', words), retryAfterMs };
}

function forAll({ recipients }: DeliveryJob, how: Ending): readonly DeliveryOutcome[] {
  return recipients.map(recipient => ({ recipient, ...how }));
}

function endingWithoutRoute({ kind, code, detail }: Exclude<Route, { kind: 'hosts' }>): Ending {
  return ending(kind === 'none' ? 'failed' : 'later', code, detail);
}

function tooManyForDomain(domain: string, { maxPerDomain, waitMs }: DirectOptions): Ending {
  const words = `${maxPerDomain} messages were on their way to ${domain} for ${waitMs} ms`;
  return ending('later', '4.4.5', words);
}
