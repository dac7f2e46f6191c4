import { z } from 'zod';
import { Name } from './common.js';

/** A recipient as an agent writes it, and as saved copies show it. */
export const Mailbox = z
  .strictObject({
    address: z.string().meta({
      maxLength: 254,
      description: 'A bare ASCII address, its local part at most 64 characters; no display name in it.',
    }),
    name: Name.optional(),
  })
  .meta({ id: 'Mailbox', examples: [{ address: 'recipient@example.com', name: 'Alex' }] });

const MAX_RECIPIENTS = 50;

/** Recipients of one kind in a request; To, Cc and Bcc have at most 50 together. */
export const recipients = z
  .array(Mailbox)
  .max(MAX_RECIPIENTS)
  .describe('To, Cc and Bcc have at most 50 entries together.');
