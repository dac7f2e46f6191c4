import { z } from 'zod';
import { Count, EXAMPLE, Id, Ts, type Wire } from './common.js';
import { Delivery } from './deliveries.js';
import { Inbox } from './inboxes.js';
import { MAX_EVENT_WAIT_S } from './limits.js';
import { ReceivedSummary } from './messages.js';
import { operations } from './operation.js';
import { SentMetadata } from './sent.js';

/** What can happen in an account that an agent may wait for. */
export const EVENT_TYPES = [
  'message.received',
  'message.failed',
  'send.outcome',
  'delivery.changed',
  'thread.merged',
  'inbox.created',
  'inbox.deleted',
  'trash.moved',
  'trash.restored',
  'trash.purged',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

const base = {
  id: Id.describe('Of the event; it stays the same however often the event is told.'),
  sequence: Count.describe('Place in the feed of the account, from 1, in the order of what happened.'),
  created_at: Ts,
  inbox_id: Id,
};

const received = ReceivedSummary.nullable().describe(
  'The message as lists show it now; null when it is in Trash or gone.',
);
const sent = SentMetadata.nullable().describe(
  'The sent copy as lists show it now; null when it is in Trash or gone.',
);

const example = {
  id: '01936f41-77c3-7d02-9e10-3f4a5b6c7d8e',
  sequence: 42,
  created_at: EXAMPLE.at,
  inbox_id: EXAMPLE.inboxId,
  type: 'trash.purged' as const,
  message_id: EXAMPLE.messageId,
  kind: 'received' as const,
  summary: null,
};

/** Something that happened in an account. */
export const AccountEvent = z
  .discriminatedUnion('type', [
    z.object({
      ...base,
      type: z
        .literal('message.received')
        .describe(
          'A message is ready to be read, for the first time: not when an admin has it parsed again.',
        ),
      message_id: Id,
      thread_id: Id.nullable(),
      summary: received,
    }),
    z.object({
      ...base,
      type: z.literal('message.failed').describe('A message could not be parsed; its raw bytes are kept.'),
      message_id: Id,
      summary: received,
    }),
    z.object({
      ...base,
      type: z.literal('send.outcome').describe('A send has its outcome: accepted, rejected or unknown.'),
      message_id: Id,
      thread_id: Id.nullable(),
      summary: sent,
    }),
    z.object({
      ...base,
      type: z
        .literal('delivery.changed')
        .describe('A sent message was delivered, refused or tried once more for recipients of one domain.'),
      message_id: Id.describe('The sent message.'),
      delivery_id: Id.describe('The same for all that happens to these recipients.'),
      summary: z
        .array(Delivery)
        .nullable()
        .describe('These recipients as they are now; null when the sent message is gone.'),
    }),
    z.object({
      ...base,
      type: z.literal('thread.merged').describe('Two conversations have become one.'),
      thread_id: Id.describe('The id that it is shown by.'),
      merged_thread_id: Id.describe('The id of the other one, which leads to it from now on.'),
      summary: z.null(),
    }),
    z.object({
      ...base,
      type: z.enum(['inbox.created', 'inbox.deleted']),
      summary: Inbox.nullable().describe('The inbox as it is now; null when it is gone.'),
    }),
    z.object({
      ...base,
      type: z
        .enum(['trash.moved', 'trash.restored', 'trash.purged'])
        .describe(
          'A message was moved to Trash, brought back, or erased for good, from Trash or at once. With its inbox a message goes without an event of its own.',
        ),
      message_id: Id,
      kind: z.enum(['received', 'sent']),
      summary: z
        .union([ReceivedSummary, SentMetadata])
        .nullable()
        .describe('The message as lists show it now; null when it is in Trash or gone.'),
    }),
  ])
  .meta({ id: 'Event', examples: [example] });
export type AccountEvent = Wire<typeof AccountEvent>;

export const EventPage = z
  .object({
    events: z.array(AccountEvent),
    next_cursor: z
      .string()
      .describe(
        'Pass it as after for what comes next, with whatever filters. Never null: a feed has no end.',
      ),
  })
  .meta({ examples: [{ events: [example], next_cursor: 'AQAAAAAAKp4QP0pbbH2O' }] });
export type EventPage = Wire<typeof EventPage>;

export const EVENT_OPERATIONS = operations({
  listEvents: {
    isExtension: true,
    method: 'GET',
    path: '/v1/events',
    auth: 'bearer',
    query: {
      names: ['after', 'limit', 'wait', 'inbox_id'],
      lists: ['types'],
      isFeed: true,
      invalid: 'invalid_search',
      codes: { after: 'invalid_cursor' },
    },
    isWaiting: true,
    tag: 'events',
    summary: 'Learn what has happened, or wait for it',
    description: `Oldest first. Each event is written together with what it tells of, so none is lost and none comes early; events are kept for 30 days, the newest 100,000 of an account. With wait, an answer without events is held back for up to ${MAX_EVENT_WAIT_S} seconds until there is one; when there is none the answer is an empty list. A page may be short, even empty, before the end: next_cursor moves past events that the filters leave out. With Accept: text/event-stream the same events come as a stream (Server-Sent Events) for as long as the client likes; each has its cursor as its id, to go on after it with Last-Event-ID, and so has a heartbeat every 15 seconds; wait and limit do not apply to it. A cursor whose events are no longer kept, or which is of a state that a restored backup has undone, is refused with cursor_expired: then read what is there by lists, and go on with after=now.`,
    responses: { 200: { description: 'Events, or none.', schema: EventPage } },
    errors: ['not_found', 'cursor_expired', 'rate_limited'],
  },
});
