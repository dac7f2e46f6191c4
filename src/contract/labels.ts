import { z } from 'zod';
import { Count, EXAMPLE, Id, Label, nextCursor, type Wire } from './common.js';
import { BODY_BYTES, MAX_BATCH, MAX_LABELS } from './limits.js';
import { operations, PAGE } from './operation.js';

/** Labels in a request: to add or remove, of a new message, or one group of a filter. */
export const labelSet = z.array(Label).max(MAX_LABELS);

const names = { add_labels: labelSet.optional(), remove_labels: labelSet.optional() };

export const LabelChange = z.strictObject(names).meta({
  id: 'LabelChange',
  description: 'At least one label in all, and none in both arrays. Repeats are ignored.',
  examples: [{ add_labels: ['handled'], remove_labels: ['needs-review'] }],
});
export type LabelChange = Wire<typeof LabelChange>;

const UUID = '^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$';

export const BulkLabelChange = z
  .strictObject({
    // Number and form are checked by the domain, whose error says which id is wrong.
    message_ids: z.array(z.string().meta({ pattern: UUID })).meta({ minItems: 1, maxItems: MAX_BATCH }),
    ...names,
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

const change = {
  method: 'PATCH',
  auth: 'bearer',
  body: { limitBytes: BODY_BYTES.labels, schema: LabelChange, invalid: 'invalid_labels' },
  tag: 'labels',
  description: 'Both apply together, other labels stay, and a repeat changes nothing.',
  responses: { 200: { description: 'The labels of the message now.', schema: LabelResult } },
} as const;

const batch = {
  method: 'PATCH',
  auth: 'bearer',
  body: { limitBytes: BODY_BYTES.labelsOfMany, schema: BulkLabelChange, invalid: 'invalid_labels' },
  tag: 'labels',
  description:
    'All or nothing, over all inboxes of the account. If one message cannot be found, none is changed.',
  responses: {
    200: {
      description: 'One entry for each distinct message, in the order of the request.',
      schema: BulkLabelResult,
    },
  },
  errors: ['not_found'],
} as const;

export const LABEL_OPERATIONS = operations({
  updateMessageLabels: {
    ...change,
    path: '/v1/messages/{message_id}',
    summary: 'Add and remove labels of a received message',
  },
  bulkUpdateMessageLabels: {
    ...batch,
    path: '/v1/messages/labels',
    summary: 'Add and remove labels of many received messages',
  },
  updateSentMessageLabels: {
    ...change,
    path: '/v1/sent/{message_id}',
    summary: 'Add and remove labels of a sent message',
  },
  bulkUpdateSentLabels: {
    ...batch,
    path: '/v1/sent/labels',
    summary: 'Add and remove labels of many sent messages',
  },
  listLabels: {
    method: 'GET',
    path: '/v1/inboxes/{inbox_id}/labels',
    auth: 'bearer',
    query: {
      names: [...PAGE, 'prefix'],
      invalid: 'invalid_search',
      codes: { prefix: 'invalid_labels' },
    },
    tag: 'labels',
    summary: 'List the labels in use in an inbox',
    description: 'A name is there as long as a message has it; there is no registry of labels.',
    responses: { 200: { description: 'A page of names with their counts.', schema: LabelList } },
  },
});
