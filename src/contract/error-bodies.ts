import { z } from 'zod';
import { Count, EXAMPLE, Ts } from './common.js';
import type { ErrorCode } from './errors.js';
import { allowanceExample, InboxAllowance } from './inboxes.js';
import { Quota, quotaExample } from './sending.js';

const code = z.string().describe('What to branch on; an unknown code is handled by the HTTP status.');
const message = z.string().describe('What happened and what to do next, for a reader; its words may change.');

export const ErrorBody = z.object({ error: z.object({ code, message }) }).meta({ id: 'Error' });

export const InboxError = z
  .object({
    error: z.object({
      code,
      message,
      details: z
        .object({ allowance: InboxAllowance, increase_request: z.string(), policy_url: z.string() })
        .optional()
        .describe('With inbox_limit_reached.'),
    }),
  })
  .meta({ id: 'InboxError' });

export const QuotaError = z
  .object({
    error: z.object({ code: z.literal('outbound_limit_reached'), message }),
    quota: Quota,
    requested_recipients: Count.describe('One for each To, Cc and Bcc entry.'),
    reason: z.enum(['temporary_exhaustion', 'message_exceeds_allowance']),
    sufficient_capacity_at: Ts.nullable().describe('Null with message_exceeds_allowance.'),
    guidance: z.string(),
  })
  .meta({ id: 'QuotaError' });

interface ErrorShape {
  readonly schema: z.ZodType;
  /** A plain error (code and message only) is valid under this schema too. */
  readonly fitsPlain?: true;
  /** Members of `error` in the example, besides `code` and `message`. */
  readonly error?: object;
  readonly beside?: object;
}

/** Errors that say more than code and message. */
export const ERROR_SHAPES: Readonly<Partial<Record<ErrorCode, ErrorShape>>> = {
  inbox_limit_reached: {
    schema: InboxError,
    fitsPlain: true,
    error: {
      details: {
        allowance: allowanceExample,
        increase_request: 'Ask the operator of this service.',
        policy_url: quotaExample.policy_url,
      },
    },
  },
  outbound_limit_reached: {
    schema: QuotaError,
    beside: {
      quota: {
        ...quotaExample,
        used: 25,
        remaining: 0,
        next_capacity_at: EXAMPLE.dayLater,
        next_capacity_amount: 25,
      },
      requested_recipients: 1,
      reason: 'temporary_exhaustion',
      sufficient_capacity_at: EXAMPLE.dayLater,
      guidance: 'Wait until sufficient_capacity_at, or ask for more as increase_request says.',
    },
  },
};
