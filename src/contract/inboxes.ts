import { z } from 'zod';
import {
  Count,
  EXAMPLE,
  firstResult,
  Id,
  Key,
  keyed,
  Name,
  replayedResult,
  Ts,
  type Wire,
} from './common.js';
import { MAX_POLICY_ENTRIES } from './limits.js';

const inboxExample = {
  id: EXAMPLE.inboxId,
  local_part: 'my-agent',
  address: 'my-agent@agents.example.com',
  name: 'Research',
  sender_name: null,
  created_at: EXAMPLE.at,
};

export const allowanceExample = { allowance: 2, used: 2, remaining: 0, unit: 'inbox_slots' as const };

export const Inbox = z
  .object({
    id: Id,
    local_part: z.string(),
    address: z.string(),
    name: z.string().nullable().describe('For the account to tell its inboxes apart.'),
    sender_name: z.string().nullable().describe('Stands in From of what the inbox sends.'),
    created_at: Ts,
  })
  .meta({ id: 'Inbox', examples: [inboxExample] });
export type Inbox = Wire<typeof Inbox>;

export const InboxAllowance = z
  .object({ allowance: Count, used: Count, remaining: Count, unit: z.literal('inbox_slots') })
  .meta({ id: 'InboxAllowance', description: 'Inbox slots of the account: a snapshot, not a reservation.' });
export type InboxAllowance = Wire<typeof InboxAllowance>;

export const InboxList = z
  .object({
    inboxes: z.array(Inbox),
    inbox_limit: Count.describe('The cap; equals inbox_allowance.allowance.'),
    inbox_allowance: InboxAllowance,
  })
  .meta({
    id: 'InboxList',
    examples: [
      {
        inboxes: [inboxExample],
        inbox_limit: 2,
        inbox_allowance: { allowance: 2, used: 1, remaining: 1, unit: 'inbox_slots' },
      },
    ],
  });
export type InboxList = Wire<typeof InboxList>;

const createdExample = { ...inboxExample, replayed: false, idempotency_expires_at: EXAMPLE.dayLater };

export const CreatedInbox = z
  .object({ ...Inbox.shape, ...keyed })
  .meta({ id: 'CreatedInbox', examples: [createdExample] });
export type CreatedInbox = Wire<typeof CreatedInbox>;

export const FirstCreatedInbox = firstResult(CreatedInbox, createdExample);
export const ReplayedCreatedInbox = replayedResult(CreatedInbox, { ...createdExample, replayed: true });

/** White space around it is trimmed and letter case does not matter: the pattern lets both through. */
const LOCAL_PART = '^\\s*[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?\\s*$';

export const CreateInbox = z
  .strictObject({
    local_part: z.string().meta({
      pattern: LOCAL_PART,
      description:
        'What stands before the @: trimmed and lowercased, then 1 to 64 letters, digits, hyphens and underscores, the first and the last a letter or digit.',
    }),
    domain: z
      .string()
      .nullable()
      .optional()
      .describe('One of the mail domains of the service; its first one when absent.'),
    name: Name.nullable().optional(),
    sender_name: Name.nullable().optional(),
    idempotency_key: Key.optional(),
  })
  .meta({
    id: 'CreateInbox',
    examples: [{ local_part: 'my-agent', name: 'Research', idempotency_key: EXAMPLE.key }],
  });
export type CreateInbox = Wire<typeof CreateInbox>;

export const UpdateInbox = z
  .strictObject({ name: Name.nullable().optional(), sender_name: Name.nullable().optional() })
  .meta({
    id: 'UpdateInbox',
    minProperties: 1,
    description: 'What is absent stays; null or blank clears.',
    examples: [{ name: 'Travel correspondence', sender_name: null }],
  });
export type UpdateInbox = Wire<typeof UpdateInbox>;

export const Policy = z
  .object({
    inbox_id: Id,
    enabled: z.boolean().describe('False: no restriction, even when the lists are kept.'),
    addresses: z.array(z.string()).max(MAX_POLICY_ENTRIES).describe('Exact addresses.'),
    domains: z
      .array(z.string())
      .max(MAX_POLICY_ENTRIES)
      .describe('Exact domains, in ASCII; subdomains are not meant.'),
    revision: Count.describe('How often it was saved; 0 when never.'),
  })
  .meta({
    id: 'Policy',
    examples: [{ inbox_id: EXAMPLE.inboxId, enabled: false, addresses: [], domains: [], revision: 0 }],
  });
export type Policy = Wire<typeof Policy>;
