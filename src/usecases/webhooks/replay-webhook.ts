import type { Webhook } from '../../contract/webhooks.js';
import { refuse } from '../../domain/errors.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { getFeed } from '../../store/records/events.js';
import { putWebhook, removeRetry, retriesOf, type WebhookRecord } from '../../store/records/webhooks.js';
import type { EventFeed } from '../events/event-feed.js';
import { expired, readPlace } from '../events/event-places.js';
import type { Clock, Logger } from '../ports.js';
import type { Caller } from '../shared/callers.js';
import { locateWebhook, viewWebhook } from './webhooks.js';

export interface ReplayDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly feed: EventFeed;
  readonly log: Logger;
}

export interface ReplayInput {
  readonly caller: Caller;
  readonly webhookId: string;
  /** A cursor of the feed of its account, `now`, or the sequence of an event. */
  readonly after: string | number;
}

/**
 * Sets the place of a webhook (`replayWebhook`): everything after it is told again, what was taken before too.
 * @throws `not_found`, `invalid_cursor`, `cursor_expired`
 */
export async function replayWebhook(
  deps: ReplayDeps,
  { caller, webhookId, after }: ReplayInput,
): Promise<Webhook> {
  const { store, clock, log } = deps;
  const { accountId } = store.read(reader => locateWebhook(reader, caller, webhookId));
  const asked = typeof after === 'number' ? after : readPlace(deps, accountId, after).sequence;
  const record = await store.write(writer => {
    const webhook = locateWebhook(writer, caller, webhookId);
    const { first, next } = getFeed(writer, accountId);
    if (asked < first - 1) throw expired();
    if (asked >= next) {
      throw refuse('invalid_cursor', `The newest event of the account has the sequence ${next - 1}.`);
    }
    return moveTo(writer, webhook, asked);
  });
  log.info({ webhook_id: record.id, account_id: accountId, sequence: asked }, 'events are sent again');
  return viewWebhook(record, clock());
}

function moveTo(writer: Writer, webhook: WebhookRecord, place: number): WebhookRecord {
  const { id, revision } = webhook;
  const kept = retriesOf(writer, id).filter(({ sequence }) => sequence <= place);
  for (const { sequence } of retriesOf(writer, id)) if (sequence > place) removeRetry(writer, id, sequence);
  const dueAt = kept.length === 0 ? null : Math.min(...kept.map(({ nextAt }) => nextAt));
  const after = { ...webhook, revision: revision + 1, place, open: kept.length, dueAt };
  putWebhook(writer, after);
  // Whoever tells it looks at it now.
  writer.announce(webhook.accountId);
  return after;
}
