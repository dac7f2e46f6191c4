import { z } from 'zod';
import { Count, EXAMPLE, Id, Label, nextCursor, type Wire } from './common.js';
import { MAX_BATCH, MAX_LABELS } from './limits.js';

/** Labels of a request: an array of a change or of a new message, a group of a filter. */
export const labelSet = z.array(Label).max(MAX_LABELS);

const change = { add_labels: labelSet.optional(), remove_labels: labelSet.optional() };

export const LabelChange = z.strictObject(change).meta({
  id: 'LabelChange',
  description: 'At least one label in all, and none in both arrays. Repeats are ignored.',
  examples: [{ add_labels: ['handled'], remove_labels: ['needs-review'] }],
});
export type LabelChange = Wire<typeof LabelChange>;

const UUID = '^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$';

export const BulkLabelChange = z
  .strictObject({
    // Counted and looked at by the domain, which says what is wrong with them.
    message_ids: z.array(z.string().meta({ pattern: UUID })).meta({ minItems: 1, maxItems: MAX_BATCH }),
    ...change,
  })
  .meta({
    id: 'BulkLabelChange',
    description: 'All or nothing. An id that stands there twice is changed once.',
    examples: [{ message_ids: [EXAMPLE.messageId], add_labels: ['handled'] }],
  });
export type BulkLabelChange = Wire<typeof BulkLabelChange>;

const resultExample = { id: EXAMPLE.messageId, labels: ['handled'] };

export const LabelResult = z
  .object({ id: Id, labels: z.array(z.string()).describe('All labels of the message now.') })
  .meta({ id: 'LabelResult', examples: [resultExample] });
export type LabelResult = Wire<typeof LabelResult>;

/** One entry for each message, in the order of the request. */
export const BulkLabelResult = z
  .object({ messages: z.array(LabelResult) })
  .meta({ examples: [{ messages: [resultExample] }] });

export const LabelList = z
  .object({
    labels: z.array(z.object({ name: z.string(), received_count: Count, sent_count: Count })),
    next_cursor: nextCursor,
  })
  .meta({
    id: 'LabelList',
    description: 'Names in the binary order of their UTF-8; the counts are of messages.',
    examples: [{ labels: [{ name: 'handled', received_count: 12, sent_count: 1 }], next_cursor: null }],
  });
export type LabelList = Wire<typeof LabelList>;
