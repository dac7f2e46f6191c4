import type { Config } from '../../config/load-config.js';
import { EVENT_TYPES, type EventType } from '../../contract/events.js';
import { MAX_WEBHOOKS } from '../../contract/limits.js';
import type {
  CreateWebhook,
  UpdateWebhook,
  Webhook,
  WebhookList,
  WebhookWithSecret,
} from '../../contract/webhooks.js';
import { notFound, Refusal, refuse } from '../../domain/errors.js';
import { type AccountId, type InboxId, newId, toId, type WebhookId } from '../../domain/ids.js';
import { DAY_MS, toInstant } from '../../domain/instants.js';
import { Reach } from '../../domain/networks.js';
import { newWebhookSecret } from '../../domain/secrets.js';
import { checkWebhookUrl, type UrlRules } from '../../domain/webhook-url.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { getFeed } from '../../store/records/events.js';
import {
  getWebhook,
  type LastTry,
  listWebhooks as listStored,
  putWebhook,
  removeWebhook,
  scanWebhooks,
  type WebhookRecord,
  webhookIdsOf,
} from '../../store/records/webhooks.js';
import type { Clock, Logger, RateLimiter } from '../ports.js';
import { type Caller, locateInbox } from '../shared/callers.js';
import { SECRET_OVERLAP_MS } from './endpoint-states.js';
import { planMail, startAnew } from './settle-events.js';

export interface WebhookDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly urls: UrlRules;
  readonly log: Logger;
  /** Null for an admin, who is not bound. */
  readonly limiter: RateLimiter | null;
}

/** The rules for URLs of webhooks, as they are configured. */
export function urlRules({ webhooks }: Pick<Config, 'webhooks'>): UrlRules {
  return { allowsHttp: webhooks.allowHttp, reach: new Reach(webhooks.allowNetworks) };
}

/** Humans are told by mail of each, and of each that ends by itself: an agent must not send them a hundred. */
const NEWS_PER_DAY = { name: 'webhook-news', max: 20, windowMs: DAY_MS } as const;

/**
 * Makes a webhook (`createWebhook`) that is told of what happens from now on. Its human is told by mail.
 * @throws `invalid_webhook`, `not_found` (inbox), `webhook_limit_reached`, `rate_limited`
 */
export async function createWebhook(
  deps: WebhookDeps,
  input: CreateWebhook & { readonly accountId: AccountId },
): Promise<WebhookWithSecret> {
  const { store, clock, urls, log } = deps;
  const { accountId } = input;
  const url = checkWebhookUrl(input.url, urls);
  const types = typesOf(input.types ?? []);
  store.read(reader => checkRoom(reader, accountId));
  await checkPace(deps, accountId);
  const secret = newWebhookSecret();
  const record = await store.write(writer => {
    checkRoom(writer, accountId);
    const nowMs = clock();
    const made: WebhookRecord = {
      id: newId<WebhookId>(nowMs),
      accountId,
      url,
      types,
      inboxIds: inboxesOf(writer, { accountId }, input.inbox_ids ?? []),
      createdAt: nowMs,
      secrets: [{ secret, until: null }],
      disabled: null,
      revision: 0,
      place: getFeed(writer, accountId).next - 1,
      gap: null,
      open: 0,
      dueAt: null,
      restUntil: null,
      failingSince: null,
      failures: 0,
      last: null,
      outcomes: 0,
    };
    putWebhook(writer, made);
    planMail(writer, made, 'made', nowMs);
    return made;
  });
  log.info({ webhook_id: record.id, account_id: accountId, host: new URL(url).host }, 'a webhook was made');
  return { ...viewWebhook(record, clock()), secret };
}

/** The webhooks of an account (`listWebhooks`), in the order in which they were made. */
export function listWebhooks(
  { store, clock }: Pick<WebhookDeps, 'store' | 'clock'>,
  accountId: AccountId,
): WebhookList {
  const records = store.read(reader => listStored(reader, accountId, MAX_WEBHOOKS));
  return { webhooks: records.map(record => viewWebhook(record, clock())) };
}

/** A webhook as the command line lists it, with its account. */
export type AdminWebhook = Webhook & { readonly account_id: AccountId };

const PAGE = 500;

/** Every webhook, in the order in which they were made. */
export function listAllWebhooks({ store, clock }: Pick<WebhookDeps, 'store' | 'clock'>): AdminWebhook[] {
  const all: AdminWebhook[] = [];
  let after: Buffer | null = null;
  for (;;) {
    const from: Buffer | null = after;
    const page: ReturnType<typeof scanWebhooks> = store.read(reader => scanWebhooks(reader, from, PAGE));
    for (const { value } of page) {
      all.push({ ...viewWebhook(value, clock()), account_id: value.accountId });
    }
    after = page.at(-1)?.key ?? null;
    if (page.length < PAGE) return all;
  }
}

interface Named {
  readonly caller: Caller;
  readonly webhookId: string;
}

/** @throws `not_found` */
export function getWebhookOf(
  { store, clock }: Pick<WebhookDeps, 'store' | 'clock'>,
  { caller, webhookId }: Named,
): Webhook {
  return viewWebhook(
    store.read(reader => locateWebhook(reader, caller, webhookId)),
    clock(),
  );
}

/**
 * Changes a webhook (`updateWebhook`); what is absent stays. Its human is told by mail when its URL changes.
 * @throws `not_found`, `invalid_webhook`, `rate_limited`
 */
export async function updateWebhook(
  deps: WebhookDeps,
  { caller, webhookId, ...changes }: Named & UpdateWebhook,
): Promise<Webhook> {
  const { store, clock, urls, log } = deps;
  const { types, inbox_ids, enabled } = changes;
  if (Object.values(changes).every(value => value === undefined)) {
    throw refuse('invalid_webhook', 'Give at least one of url, types, inbox_ids and enabled.');
  }
  const url = changes.url === undefined ? undefined : checkWebhookUrl(changes.url, urls);
  const found = store.read(reader => locateWebhook(reader, caller, webhookId));
  const isElsewhere = url !== undefined && url !== found.url;
  // One that is enabled again may end by itself again, and the operator and its human are told each time.
  if (isElsewhere || (enabled === true && found.disabled !== null)) await checkPace(deps, found.accountId);
  const record = await store.write(writer => {
    const nowMs = clock();
    const before = locateWebhook(writer, caller, webhookId);
    const { accountId } = before;
    const changed: WebhookRecord = {
      ...before,
      url: url ?? before.url,
      types: types === undefined ? before.types : typesOf(types),
      inboxIds: inbox_ids === undefined ? before.inboxIds : inboxesOf(writer, { accountId }, inbox_ids),
    };
    const isMoved = changed.url !== before.url;
    const after = switched(writer, changed, { enabled, isMoved, nowMs });
    putWebhook(writer, after);
    // Whoever tells it looks at it now.
    writer.announce(accountId);
    if (isMoved) planMail(writer, after, 'url', nowMs);
    return after;
  });
  const { id, accountId, disabled } = record;
  const facts = { webhook_id: id, account_id: accountId, host: new URL(record.url).host };
  log.info({ ...facts, enabled: disabled === null }, 'a webhook was changed');
  return viewWebhook(record, clock());
}

/** Enabled or disabled, if that is asked for. What the old endpoint did not take is no matter of the new one. */
function switched(
  writer: Writer,
  webhook: WebhookRecord,
  {
    enabled = webhook.disabled === null,
    isMoved,
    nowMs,
  }: { readonly enabled: boolean | undefined; readonly isMoved: boolean; readonly nowMs: number },
): WebhookRecord {
  const { disabled } = webhook;
  if (!enabled)
    return disabled === null ? { ...webhook, disabled: { reason: 'requested', at: nowMs } } : webhook;
  return isMoved || disabled !== null ? startAnew(writer, webhook, nowMs) : webhook;
}

/** Deletes a webhook (`deleteWebhook`): nothing more is started for it. @throws `not_found` */
export async function deleteWebhook(
  { store, log }: Pick<WebhookDeps, 'store' | 'log'>,
  { caller, webhookId }: Named,
): Promise<{ readonly id: WebhookId; readonly status: 'deletion_pending'; readonly message: string }> {
  const { id, accountId } = await store.write(writer => {
    const found = locateWebhook(writer, caller, webhookId);
    removeWebhook(writer, found);
    return found;
  });
  log.info({ webhook_id: id, account_id: accountId }, 'a webhook was deleted');
  return {
    id,
    status: 'deletion_pending',
    message: 'The webhook is gone; an event that was being sent may still arrive.',
  };
}

/**
 * Gives a webhook a new secret (`rotateWebhookSecret`). The one from before still signs for a day, beside the new one;
 * one that was replaced earlier ends now.
 * @throws `not_found`
 */
export async function rotateSecret(
  { store, clock, log }: Pick<WebhookDeps, 'store' | 'clock' | 'log'>,
  { caller, webhookId }: Named,
): Promise<WebhookWithSecret> {
  const secret = newWebhookSecret();
  const record = await store.write(writer => {
    const before = locateWebhook(writer, caller, webhookId);
    const replaced = before.secrets.slice(0, 1).map(old => ({ ...old, until: clock() + SECRET_OVERLAP_MS }));
    const after = { ...before, secrets: [{ secret, until: null }, ...replaced] };
    putWebhook(writer, after);
    return after;
  });
  log.info({ webhook_id: record.id, account_id: record.accountId }, 'a webhook got a new secret');
  return { ...viewWebhook(record, clock()), secret };
}

/** A webhook of the caller. @throws `not_found` */
export function locateWebhook(reader: Reader, caller: Caller, name: string): WebhookRecord {
  const id = toId<WebhookId>(name);
  const found = id === null ? undefined : getWebhook(reader, id);
  if (found === undefined || !('admin' in caller || found.accountId === caller.accountId)) {
    throw notFound('admin' in caller ? `webhook ${name}` : 'webhook');
  }
  return found;
}

function checkRoom(reader: Reader, accountId: AccountId): void {
  if (webhookIdsOf(reader, accountId, MAX_WEBHOOKS).length < MAX_WEBHOOKS) return;
  throw refuse(
    'webhook_limit_reached',
    `This account has ${MAX_WEBHOOKS} webhooks already. Change one of them, or delete one that is not used any more.`,
  );
}

async function checkPace({ limiter }: WebhookDeps, accountId: AccountId): Promise<void> {
  const verdict = await limiter?.take(NEWS_PER_DAY, accountId);
  if (verdict === undefined || verdict.isAllowed) return;
  throw new Refusal({
    code: 'rate_limited',
    message: `In 24 hours an account may make webhooks, change their URLs and enable disabled ones ${NEWS_PER_DAY.max} times, because its human is told of them by mail. Nothing was changed.`,
    retryAfterS: Math.max(1, Math.ceil(verdict.retryAfterMs / 1000)),
  });
}

function typesOf(given: readonly EventType[]): EventType[] {
  return EVENT_TYPES.filter(type => given.includes(type));
}

function inboxesOf(reader: Reader, caller: Caller, given: readonly string[]): InboxId[] {
  return [...new Set(given)].map(id => locateInbox(reader, caller, id).id);
}

export function viewWebhook(record: WebhookRecord, nowMs: number): Webhook {
  const { id, url, types, inboxIds, createdAt, disabled, place, open, failingSince, last, secrets } = record;
  const signing = secrets.filter(({ until }) => until === null || until > nowMs);
  return {
    id,
    url,
    types,
    inbox_ids: inboxIds,
    status: disabled === null ? 'enabled' : 'disabled',
    disabled_reason: disabled?.reason ?? null,
    created_at: toInstant(createdAt),
    sequence: place,
    waiting: open,
    failing_since: failingSince === null ? null : toInstant(failingSince),
    last_attempt: last === null ? null : viewTry(last),
    secrets: signing.map(({ until }) => ({ expires_at: until === null ? null : toInstant(until) })),
  };
}

export function viewTry({ at, status, reason }: LastTry): NonNullable<Webhook['last_attempt']> {
  return { at: toInstant(at), status, reason };
}
