import { z } from 'zod';
import { Name } from './common.js';
import { MAX_ADDRESS_LENGTH, MAX_RECIPIENTS } from './limits.js';

/** A recipient as an agent writes it, and as saved copies show it. */
export const Mailbox = z
  .strictObject({
    address: z.string().meta({
      maxLength: MAX_ADDRESS_LENGTH,
      description: 'A bare ASCII address, its local part at most 64 characters; no display name in it.',
    }),
    name: Name.optional(),
  })
  .meta({ id: 'Mailbox', examples: [{ address: 'recipient@example.com', name: 'Alex' }] });

/** Recipients of one kind in a request. */
export const recipients = z
  .array(Mailbox)
  .max(MAX_RECIPIENTS)
  .describe(`To, Cc and Bcc have at most ${MAX_RECIPIENTS} entries together.`);
