import { z } from 'zod';
import { Id, type Wire } from './common.js';
import { BODY_BYTES, MAX_FEEDBACK_TITLE_BYTES } from './limits.js';
import { operations } from './operation.js';

export const FeedbackInput = z
  .strictObject({
    title: z.string().optional().meta({ 'x-max-utf8-bytes': MAX_FEEDBACK_TITLE_BYTES, 'x-trimmed': true }),
    body: z.string().meta({ pattern: '\\S', description: 'Not blank.' }),
  })
  .meta({
    id: 'FeedbackInput',
    examples: [{ title: 'More recipients', body: 'We need 100 recipients a day for a newsletter.' }],
  });
export type FeedbackInput = Wire<typeof FeedbackInput>;

export const FeedbackResult = z.object({ id: Id, status: z.literal('received') }).meta({
  id: 'FeedbackResult',
  examples: [{ id: '01936f55-3c4d-7e5f-8a6b-7c8d9e0f1a2b', status: 'received' }],
});
export type FeedbackResult = Wire<typeof FeedbackResult>;

export const FEEDBACK_OPERATIONS = operations({
  createFeedback: {
    method: 'POST',
    path: '/v1/feedback',
    auth: 'bearer',
    body: { limitBytes: BODY_BYTES.feedback, schema: FeedbackInput, invalid: 'invalid_request' },
    tag: 'feedback',
    summary: 'Send feedback to the operator',
    description:
      'Also the way to ask for larger allowances. There is no limit on how often; it counts as stored.',
    responses: { 201: { description: 'It was received.', schema: FeedbackResult } },
    errors: ['storage_limit_reached'],
  },
});
