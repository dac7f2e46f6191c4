import { z } from 'zod';
import { Count, Ts } from './common.js';

export const quotaExample = {
  allowance: 25,
  used: 0,
  remaining: 25,
  next_capacity_at: null,
  next_capacity_amount: 0,
  window_hours: 24 as const,
  unit: 'recipient_deliveries' as const,
  increase_request: 'Ask the operator of this service.',
  policy_url: 'https://postern.example.com/policy',
};

export const Quota = z
  .object({
    allowance: Count.describe('Recipients that may be sent to in any 24 hours.'),
    used: Count,
    remaining: Count,
    next_capacity_at: Ts.nullable().describe('When the oldest charge expires; null when nothing is charged.'),
    next_capacity_amount: Count.describe('How much is free again then.'),
    window_hours: z.literal(24),
    unit: z.literal('recipient_deliveries'),
    increase_request: z.string().describe('How to ask for more.'),
    policy_url: z.string(),
  })
  .meta({ id: 'Quota', examples: [quotaExample] });
