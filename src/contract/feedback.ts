import { z } from 'zod';
import { Id, type Wire } from './common.js';
import { MAX_FEEDBACK_TITLE_BYTES } from './limits.js';

export const FeedbackInput = z
  .strictObject({
    title: z.string().optional().meta({ 'x-max-utf8-bytes': MAX_FEEDBACK_TITLE_BYTES }),
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
