import { z } from 'zod';
import { Count, EXAMPLE, Id, Ts, type Wire } from './common.js';
import { MAX_RECIPIENTS } from './limits.js';
import { NO_PARAMETERS, operations } from './operation.js';

const deliveryExample = {
  recipient: 'recipient@example.com',
  state: 'delivered' as const,
  attempts: 2,
  updated_at: EXAMPLE.at,
  next_attempt_at: null,
  host: 'mx1.example.com',
  tls: 'TLSv1.3',
  code: '2.0.0',
  reply: '250 2.0.0 Ok: queued as 4F3A1',
};

/** What became of a message for one recipient. */
export const Delivery = z
  .object({
    recipient: z.string().describe('Address as in the submission.'),
    state: z
      .enum(['queued', 'sending', 'delivered', 'failed', 'unknown', 'cancelled'])
      .describe(
        'queued: it is tried, or tried again. sending: under way. delivered: the server of the recipient has it, or the relay that takes it. failed: refused for good, given up, or reported as such. unknown: it may have arrived; nothing tries it again by itself. cancelled: by the operator.',
      ),
    attempts: Count,
    updated_at: Ts,
    next_attempt_at: Ts.nullable().describe('Of a queued one.'),
    host: z
      .string()
      .nullable()
      .describe('The server of the last attempt; null when none was reached, and of what a relay takes.'),
    tls: z.string().nullable().describe('Protocol of its session; null in plain text.'),
    code: z
      .string()
      .nullable()
      .describe('Enhanced status code (RFC 3463) of the last attempt, or of a report.'),
    reply: z
      .string()
      .nullable()
      .describe(
        'What that server said, or why none was reached; what a report says; the error_code of a message that a relay did not take.',
      ),
  })
  .meta({ id: 'Delivery', examples: [deliveryExample] });
export type Delivery = Wire<typeof Delivery>;

export const Deliveries = z
  .object({ message_id: Id, deliveries: z.array(Delivery) })
  .meta({ id: 'Deliveries', examples: [{ message_id: EXAMPLE.sentId, deliveries: [deliveryExample] }] });
export type Deliveries = Wire<typeof Deliveries>;

export const DELIVERY_OPERATIONS = operations({
  listDeliveries: {
    isExtension: true,
    method: 'GET',
    path: '/v1/sent/{message_id}/deliveries',
    auth: 'bearer',
    query: NO_PARAMETERS,
    tag: 'sending',
    summary: 'See what became of a sent message',
    description: `One entry a recipient, ${MAX_RECIPIENTS} at most, by domain: there are no pages. Where a relay takes the message (a smarthost, or an inbox of this service), its outcome is that of every recipient, and delivered says that the relay has it. A report of another system that comes in makes one failed, whatever it was before; a complaint stands in its reply. Not for a message in Trash: restore it first.`,
    responses: { 200: { description: 'The recipients of the message.', schema: Deliveries } },
    uncertain: 'outbound_unavailable',
  },
});
