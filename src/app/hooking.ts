import type { Config } from '../config/load-config.js';
import { MAX_WEBHOOKS } from '../contract/limits.js';
import { CACHE_BYTES, DnsClient } from '../dns/dns-client.js';
import { type AccountId, toId } from '../domain/ids.js';
import { HttpHookCaller } from '../hooks/http-hook-caller.js';
import type { WebhookRouteDeps } from '../http/routes/webhooks.js';
import { within } from '../lib/async.js';
import type { RedisSpace } from '../queue/connection.js';
import { WorkLine } from '../queue/work-line.js';
import { isHeldAfterRestore } from '../store/engine/meta.js';
import type { Store } from '../store/engine/store.js';
import { getWebhook, listWebhooks, scanWebhooks, type WebhookRecord } from '../store/records/webhooks.js';
import type { EventFeed } from '../usecases/events/event-feed.js';
import type { EventViews } from '../usecases/events/event-views.js';
import type { Clock, Logger, RateLimiter } from '../usecases/ports.js';
import { MAX_IN_FLIGHT } from '../usecases/webhooks/endpoint-states.js';
import { type MailNewsDeps, mailWebhookNews } from '../usecases/webhooks/mail-news.js';
import { endpointWait, tellEndpoint } from '../usecases/webhooks/tell-endpoint.js';
import { MAX_TESTS } from '../usecases/webhooks/test-webhook.js';
import { urlRules } from '../usecases/webhooks/webhooks.js';
import { Sweeper } from '../workers/background.js';
import type { Meters } from './metering.js';

interface HookingDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redis: RedisSpace;
  readonly feed: EventFeed;
  readonly views: EventViews;
  readonly version: string;
  /** For mail to humans. */
  readonly news: Omit<MailNewsDeps, 'store' | 'clock' | 'log'>;
  readonly limiter: RateLimiter;
  readonly meters: Meters;
}

/**
 * Endpoints that are told of events at a time, each of at most eight. Of one account no more than there are free ones, so
 * that endpoints which answer slowly leave some to others.
 */
const ENDPOINTS_AT_ONCE = 32;
/** Connections to endpoints, tests included; who looks up the same name shares the two questions, and an endpoint has one name. */
export const HOOK_SOCKETS = ENDPOINTS_AT_ONCE * (MAX_IN_FLIGHT + 2) + MAX_TESTS * 3;
/** What these, and the answers of the DNS, take of memory: a connection has its event, and what TLS keeps. */
export const HOOK_BYTES = (ENDPOINTS_AT_ONCE * MAX_IN_FLIGHT + MAX_TESTS) * 96 * 1024 + CACHE_BYTES;
/** How soon it is seen that another process has made an event, a webhook or a place. */
const LOOK_MS = 2_000;
/** How long a stop waits for answers; what has none is sent again after the next start. */
const FINISH_MS = 3_000;

/** How soon humans are told of what an admin or an agent did to a webhook. */
const NEWS_MS = 1_000;

/** Tells webhooks of events, from the commit of an event until an endpoint has taken it. */
export class Hooking {
  /** What is asked for by hand. */
  readonly routes: WebhookRouteDeps;
  readonly #store: Store;
  /** Apart from the sweeper, because mail takes its time. */
  readonly #news: Sweeper;
  readonly #line: WorkLine<WebhookRecord, Buffer>;
  readonly #caller: HttpHookCaller;
  /** Of its own: names that take long hold up no mail. */
  readonly #dns: DnsClient;
  readonly #unsubscribe: () => void;
  /** Accounts in which something has happened. */
  readonly #due = new Set<AccountId>();
  #isStopping = false;

  constructor({
    config,
    store,
    clock,
    log,
    redis,
    feed,
    views,
    version,
    news,
    limiter,
    meters,
  }: HookingDeps) {
    this.#store = store;
    this.#dns = new DnsClient(config.dns);
    const urls = urlRules(config);
    this.#caller = new HttpHookCaller({ dns: this.#dns, reach: urls.reach, version });
    const told = { store, clock, feed, views, caller: meters.caller(this.#caller), log };
    const deps = { pause: { untilMs: 0 }, ...told };
    this.routes = { store, clock, log, feed, urls, limiter, caller: this.#caller, tests: { count: 0 } };
    this.#news = new Sweeper({
      run: shouldStop => mailWebhookNews({ ...news, store, clock, log }, shouldStop),
      intervalMs: NEWS_MS,
      log,
    });
    this.#line = new WorkLine<WebhookRecord, Buffer>({
      name: 'webhooks',
      redis,
      log,
      places: { tell: ENDPOINTS_AT_ONCE },
      find: id => store.read(reader => getWebhook(reader, id)),
      laneOf: ({ accountId }) => ({ way: 'tell', owner: accountId, isAlone: false }),
      limits: { perDestination: () => Number.POSITIVE_INFINITY },
      isDirect: true,
      closeTimeoutMs: FINISH_MS + 1_000,
      intervalMs: LOOK_MS,
      pageSize: PAGE,
      listPending: (limit, after) => listDue(store, clock, limit, after),
      handler: id => tellEndpoint(deps, id, () => this.#isStopping),
    });
    this.#unsubscribe = store.onCommitted(topics => this.#hear(topics));
  }

  start(): void {
    this.#line.start();
    this.#news.start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    await Promise.all([
      this.#line.close(),
      this.#caller.close(FINISH_MS),
      within(FINISH_MS, this.#news.stop()),
    ]);
    this.#dns.close();
  }

  #hear(topics: ReadonlySet<string>): void {
    if (this.#due.size === 0) setImmediate(() => this.#offerDue());
    for (const topic of topics) {
      const accountId = toId<AccountId>(topic);
      if (accountId !== null) this.#due.add(accountId);
    }
  }

  #offerDue(): void {
    const accounts = [...this.#due];
    this.#due.clear();
    if (this.#isStopping || this.#store.read(isHeldAfterRestore)) return;
    const due = this.#store.read(reader =>
      accounts.flatMap(accountId => listWebhooks(reader, accountId, MAX_WEBHOOKS)),
    );
    this.#line.offer(due.filter(({ disabled }) => disabled === null));
  }
}

/** Webhooks that are looked at in one event turn: some milliseconds. */
const PAGE = 200;

/** Webhooks that have something to do now. */
function listDue(
  store: Store,
  clock: Clock,
  limit: number,
  after?: Buffer,
): { readonly ids: WebhookRecord['id'][]; readonly next: Buffer | null } {
  const nowMs = clock();
  return store.read(reader => {
    if (isHeldAfterRestore(reader)) return { ids: [], next: null };
    const page = scanWebhooks(reader, after ?? null, limit);
    const due = page.filter(({ value }) => endpointWait(reader, value, nowMs) === 0);
    const next = page.length < limit ? null : (page.at(-1)?.key ?? null);
    return { ids: due.map(({ value }) => value.id), next };
  });
}
