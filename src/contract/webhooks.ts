import { z } from 'zod';
import { Count, Deleted, EXAMPLE, Id, Ts, type Wire } from './common.js';
import { EVENT_TYPES } from './events.js';
import { BODY_BYTES, MAX_WEBHOOK_INBOXES, MAX_WEBHOOK_URL_LENGTH, MAX_WEBHOOKS } from './limits.js';
import { NO_PARAMETERS, operations } from './operation.js';

/** Why an endpoint has not taken an event. */
export const HOOK_REASONS = [
  'status',
  'redirect',
  'gone',
  'timeout',
  'unknown_host',
  'address_refused',
  'unreachable',
  'tls',
  'no_answer',
] as const;

export type HookReason = (typeof HOOK_REASONS)[number];

const Reason = z
  .enum(HOOK_REASONS)
  .nullable()
  .describe(
    'Null when the endpoint took it. status: it answered with another status than 2xx. redirect: it answered 3xx, which is not followed. gone: 410. timeout: no answer within 10 seconds in all. unknown_host: the name has no address. address_refused: it leads to an address that must not be called. unreachable: no connection. tls: no valid certificate, or no TLS. no_answer: the connection ended before an answer.',
  );

const Status = Count.nullable().describe('HTTP status; null when there was no answer.');

const LastAttempt = z.object({ at: Ts, status: Status, reason: Reason });

const webhookExample = {
  id: '01936f50-2b3c-7d4e-8f50-617283940a1b',
  url: 'https://agent.example.com/hooks/mail',
  types: ['message.received' as const],
  inbox_ids: [EXAMPLE.inboxId],
  status: 'enabled' as const,
  disabled_reason: null,
  created_at: EXAMPLE.at,
  sequence: 42,
  waiting: 0,
  failing_since: null,
  last_attempt: { at: EXAMPLE.at, status: 204, reason: null },
  secrets: [{ expires_at: null }],
};

const Url = z.string().meta({
  maxLength: MAX_WEBHOOK_URL_LENGTH,
  description:
    'Absolute, with https (the operator may allow http), without user name, password and fragment; port 80, 443 or 1024 and above.',
});

const Types = z
  .array(z.enum(EVENT_TYPES))
  .max(EVENT_TYPES.length)
  .describe('Only events of these types; of all when there are none.');

const InboxIds = z
  .array(z.string())
  .max(MAX_WEBHOOK_INBOXES)
  .describe('Only events about these inboxes; about all of the account when there are none.');

export const Webhook = z
  .object({
    id: Id,
    url: z.string(),
    types: z.array(z.enum(EVENT_TYPES)).describe('Only events of these types; of all when there are none.'),
    inbox_ids: z
      .array(Id)
      .describe('Only events about these inboxes; about all of the account when there are none.'),
    status: z.enum(['enabled', 'disabled']),
    disabled_reason: z
      .enum(['requested', 'gone', 'dead'])
      .nullable()
      .describe(
        'requested: by a change. gone: the endpoint answered 410. dead: it took nothing for three days. Null while it is enabled.',
      ),
    created_at: Ts,
    sequence: Count.describe(
      'Place in the feed: every event up to this one was told, left out, given up, or is counted in waiting.',
    ),
    waiting: Count.describe('Events that were not taken and are tried again.'),
    failing_since: Ts.nullable().describe('First failure since the last success.'),
    last_attempt: LastAttempt.nullable(),
    secrets: z
      .array(z.object({ expires_at: Ts.nullable() }))
      .describe('Those that sign now, the newest first; one that was replaced expires.'),
  })
  .meta({ id: 'Webhook', examples: [webhookExample] });
export type Webhook = Wire<typeof Webhook>;

const secretExample = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw1F2pJ8t0vXk=';

/** A webhook with its newest secret, which is shown this once. */
export const WebhookWithSecret = z
  .object({
    ...Webhook.shape,
    secret: z
      .string()
      .describe('Key of the signatures, as Standard Webhooks writes it. It is shown this once.'),
  })
  .meta({ id: 'WebhookWithSecret', examples: [{ ...webhookExample, secret: secretExample }] });
export type WebhookWithSecret = Wire<typeof WebhookWithSecret>;

export const WebhookList = z
  .object({ webhooks: z.array(Webhook) })
  .meta({ id: 'WebhookList', examples: [{ webhooks: [webhookExample] }] });
export type WebhookList = Wire<typeof WebhookList>;

export const CreateWebhook = z
  .strictObject({ url: Url, types: Types.optional(), inbox_ids: InboxIds.optional() })
  .meta({
    id: 'CreateWebhook',
    examples: [{ url: webhookExample.url, types: ['message.received'] }],
  });
export type CreateWebhook = Wire<typeof CreateWebhook>;

export const UpdateWebhook = z
  .strictObject({
    url: Url.optional(),
    types: Types.optional(),
    inbox_ids: InboxIds.optional(),
    enabled: z
      .boolean()
      .optional()
      .describe('True goes on from where it stopped, and tries at once what waits; false stops it.'),
  })
  .meta({
    id: 'UpdateWebhook',
    minProperties: 1,
    description: 'What is absent stays.',
    examples: [{ enabled: true }],
  });
export type UpdateWebhook = Wire<typeof UpdateWebhook>;

const testExample = { id: '01936f60-0a0b-7c0d-8e0f-102132435465', status: 204, reason: null };

export const WebhookTest = z
  .object({
    id: Id.describe('Of the event that was sent, in webhook-id.'),
    status: Status,
    reason: Reason,
  })
  .meta({ id: 'WebhookTest', examples: [testExample] });
export type WebhookTest = Wire<typeof WebhookTest>;

const attemptExample = {
  event_id: '01936f41-77c3-7d02-9e10-3f4a5b6c7d8e',
  sequence: 42,
  type: 'message.received' as const,
  state: 'waiting' as const,
  attempts: 3,
  first_attempt_at: EXAMPLE.at,
  last_attempt: { at: EXAMPLE.at, status: 500, reason: 'status' as const },
  next_attempt_at: EXAMPLE.dayLater,
};

/** What became of an event at an endpoint. */
export const WebhookDelivery = z
  .object({
    event_id: Id,
    sequence: Count.describe('Of the event; of the last one that is missing for feed.gap.'),
    type: z.enum([...EVENT_TYPES, 'feed.gap']),
    state: z
      .enum(['waiting', 'delivered', 'failed'])
      .describe('waiting: it is tried again. failed: it was given up after three days.'),
    attempts: Count,
    first_attempt_at: Ts,
    last_attempt: LastAttempt,
    next_attempt_at: Ts.nullable().describe('Of one that waits.'),
  })
  .meta({ id: 'WebhookDelivery', examples: [attemptExample] });
export type WebhookDelivery = Wire<typeof WebhookDelivery>;

export const WebhookDeliveries = z.object({ webhook_id: Id, deliveries: z.array(WebhookDelivery) }).meta({
  id: 'WebhookDeliveries',
  examples: [{ webhook_id: webhookExample.id, deliveries: [attemptExample] }],
});
export type WebhookDeliveries = Wire<typeof WebhookDeliveries>;

export const ReplayWebhook = z
  .strictObject({
    after: z
      .string()
      .describe(
        'A cursor of the feed (next_cursor of listEvents), or now to leave out what is not told yet.',
      ),
  })
  .meta({ id: 'ReplayWebhook', examples: [{ after: 'AQAAAAAAKp4QP0pbbH2O' }] });
export type ReplayWebhook = Wire<typeof ReplayWebhook>;

const webhookPath = '/v1/webhooks/{webhook_id}';
const body = { limitBytes: BODY_BYTES.webhook, invalid: 'invalid_webhook' } as const;

export const WEBHOOK_OPERATIONS = operations({
  listWebhooks: {
    isExtension: true,
    method: 'GET',
    path: '/v1/webhooks',
    auth: 'bearer',
    query: NO_PARAMETERS,
    tag: 'webhooks',
    summary: 'List the webhooks of the account',
    description: `There are ${MAX_WEBHOOKS} at most, so there are no pages.`,
    responses: { 200: { description: 'The webhooks.', schema: WebhookList } },
  },
  createWebhook: {
    isExtension: true,
    method: 'POST',
    path: '/v1/webhooks',
    auth: 'bearer',
    body: { ...body, schema: CreateWebhook },
    tag: 'webhooks',
    summary: 'Be told of events by HTTP',
    description: `From now on each event that fits is sent to the URL with POST, as JSON like that of listEvents, signed as Standard Webhooks says (webhook-id, webhook-timestamp, webhook-signature). webhook-id is the id of the event and stays the same however often it is sent: events come at least once. They are started in the order of the feed, up to 8 at a time, and one that fails does not hold up the next; sequence tells the order. Any 2xx within 10 seconds takes an event; redirects are not followed. What is not taken is tried again after 5 seconds up to 12 hours, for three days; Retry-After is heeded. 410 disables the webhook at once, and so do three days without a success. After events that are kept no longer, the first one told is feed.gap: read what is there by lists. The human of the account is told by mail of a new webhook and of a new URL.`,
    responses: {
      201: { description: 'The webhook, with its secret.', schema: WebhookWithSecret, headers: ['Location'] },
    },
    errors: ['not_found', 'webhook_limit_reached', 'rate_limited'],
  },
  getWebhook: {
    isExtension: true,
    method: 'GET',
    path: webhookPath,
    auth: 'bearer',
    query: NO_PARAMETERS,
    tag: 'webhooks',
    summary: 'Get a webhook',
    responses: { 200: { description: 'The webhook.', schema: Webhook } },
  },
  updateWebhook: {
    isExtension: true,
    method: 'PATCH',
    path: webhookPath,
    auth: 'bearer',
    body: { ...body, schema: UpdateWebhook },
    tag: 'webhooks',
    summary: 'Change, disable or enable a webhook',
    description: 'What is under way may still reach the old URL.',
    responses: { 200: { description: 'The webhook as it is now.', schema: Webhook } },
    errors: ['rate_limited'],
  },
  deleteWebhook: {
    isExtension: true,
    method: 'DELETE',
    path: webhookPath,
    auth: 'bearer',
    tag: 'webhooks',
    summary: 'Delete a webhook',
    responses: { 202: { description: 'No further event is sent.', schema: Deleted } },
  },
  rotateWebhookSecret: {
    isExtension: true,
    method: 'POST',
    path: `${webhookPath}/secret`,
    auth: 'bearer',
    tag: 'webhooks',
    summary: 'Get a new secret',
    description:
      'For 24 hours what is sent has two signatures, one with the secret from before; an older one ends at once.',
    responses: { 200: { description: 'The webhook, with its new secret.', schema: WebhookWithSecret } },
  },
  testWebhook: {
    isExtension: true,
    method: 'POST',
    path: `${webhookPath}/test`,
    auth: 'bearer',
    tag: 'webhooks',
    summary: 'Send a test event now',
    description:
      'An event of the type webhook.test, once, also while the webhook is disabled. When it is taken, what waits is tried at once.',
    responses: { 200: { description: 'How it went.', schema: WebhookTest } },
    errors: ['rate_limited'],
  },
  listWebhookDeliveries: {
    isExtension: true,
    method: 'GET',
    path: `${webhookPath}/deliveries`,
    auth: 'bearer',
    query: NO_PARAMETERS,
    tag: 'webhooks',
    summary: 'See what became of events at a webhook',
    description: 'What waits to be tried again, then the newest 100 that have ended, the newest first.',
    responses: { 200: { description: 'The deliveries.', schema: WebhookDeliveries } },
  },
  replayWebhook: {
    isExtension: true,
    method: 'POST',
    path: `${webhookPath}/replay`,
    auth: 'bearer',
    body: { ...body, schema: ReplayWebhook },
    tag: 'webhooks',
    summary: 'Send events again from a place in the feed',
    description:
      'Everything after the place is sent again, also what was taken; what waited to be tried again after it is started anew.',
    responses: { 200: { description: 'The webhook at its new place.', schema: Webhook } },
    errors: ['cursor_expired', 'invalid_cursor'],
  },
});
