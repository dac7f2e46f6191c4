import type { WebhookDeliveries, WebhookDelivery } from '../../contract/webhooks.js';
import { toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import { type OutcomeRecord, outcomesOf, retriesOf, type StoredRetry } from '../../store/records/webhooks.js';
import type { Caller } from '../shared/callers.js';
import { locateWebhook, viewTry } from './webhooks.js';

/**
 * What became of events at a webhook (`listWebhookDeliveries`): those that wait, then the newest that have ended.
 * @throws `not_found`
 */
export function listWebhookDeliveries(
  { store }: { readonly store: Store },
  { caller, webhookId }: { readonly caller: Caller; readonly webhookId: string },
): WebhookDeliveries {
  return store.read(reader => {
    const { id } = locateWebhook(reader, caller, webhookId);
    const deliveries = [
      ...retriesOf(reader, id).reverse().map(viewRetry),
      ...outcomesOf(reader, id).map(viewOutcome),
    ];
    return { webhook_id: id, deliveries };
  });
}

function viewRetry(retry: StoredRetry): WebhookDelivery {
  return {
    event_id: retry.eventId,
    sequence: retry.sequence,
    type: retry.type,
    state: 'waiting',
    attempts: retry.attempts,
    first_attempt_at: toInstant(retry.firstAt),
    last_attempt: viewTry(retry.last),
    next_attempt_at: toInstant(retry.nextAt),
  };
}

function viewOutcome(outcome: OutcomeRecord): WebhookDelivery {
  return {
    event_id: outcome.eventId,
    sequence: outcome.sequence,
    type: outcome.type,
    state: outcome.state,
    attempts: outcome.attempts,
    first_attempt_at: toInstant(outcome.firstAt),
    last_attempt: viewTry(outcome.last),
    next_attempt_at: null,
  };
}
