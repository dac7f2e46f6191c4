import { z } from 'zod';
import {
  Count,
  Deleted,
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
import { BODY_BYTES, MAX_POLICY_ENTRIES } from './limits.js';
import { operations } from './operation.js';

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

/** Accepts surrounding white space, which is trimmed, and any letter case, which is ignored. */
const LOCAL_PART = '^\\s*[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?\\s*$';

export const CreateInbox = z
  .strictObject({
    local_part: z.string().meta({
      pattern: LOCAL_PART,
      description:
        'What stands before the @: trimmed and lowercased, then 1 to 64 letters, digits, hyphens and underscores, the first and the last a letter or digit.',
    }),
    domain: z.string().nullable().optional().meta({
      'x-extension': true,
      description: 'One of the mail domains of the service; its first one when absent.',
    }),
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

const inboxPath = '/v1/inboxes/{inbox_id}';

const policy = {
  method: 'GET',
  auth: 'bearer',
  tag: 'inboxes',
  description: 'To be read only: humans and admins change it.',
  responses: { 200: { description: 'The rules.', schema: Policy } },
} as const;

export const INBOX_OPERATIONS = operations({
  listInboxes: {
    method: 'GET',
    path: '/v1/inboxes',
    auth: 'bearer',
    tag: 'inboxes',
    summary: 'List the inboxes of the account',
    description: 'Not paginated. List before you create one, and after a creation whose answer was lost.',
    responses: { 200: { description: 'The inboxes and the slots of the account.', schema: InboxList } },
    errors: ['not_found'],
  },
  createInbox: {
    method: 'POST',
    path: '/v1/inboxes',
    auth: 'bearer',
    body: { limitBytes: BODY_BYTES.small, schema: CreateInbox, invalid: 'invalid_inbox' },
    tag: 'inboxes',
    summary: 'Create an inbox',
    description: 'With an idempotency key a lost answer is recovered by the same request.',
    responses: {
      201: { description: 'The inbox was created.', schema: FirstCreatedInbox, headers: ['Location'] },
      200: {
        description: 'An earlier request with this key created the inbox; shown as it is now.',
        schema: ReplayedCreatedInbox,
        headers: ['Location'],
      },
    },
    errors: ['not_found', 'address_unavailable', 'inbox_limit_reached', 'rate_limited'],
  },
  getInbox: {
    method: 'GET',
    path: inboxPath,
    auth: 'bearer',
    tag: 'inboxes',
    summary: 'Get an inbox',
    responses: { 200: { description: 'The inbox.', schema: Inbox } },
  },
  updateInbox: {
    method: 'PATCH',
    path: inboxPath,
    auth: 'bearer',
    body: { limitBytes: BODY_BYTES.small, schema: UpdateInbox, invalid: 'invalid_inbox' },
    tag: 'inboxes',
    summary: 'Change the names of an inbox',
    description: 'A changed sender name stands in later mail only. The address never changes.',
    responses: { 200: { description: 'The inbox as it is now.', schema: Inbox } },
  },
  deleteInbox: {
    method: 'DELETE',
    path: inboxPath,
    auth: 'bearer',
    tag: 'inboxes',
    summary: 'Delete an inbox with all it holds',
    description: 'There is no way back: its mail is gone, its slot free, and its address retired for ever.',
    responses: { 202: { description: 'The inbox is out of reach from now on.', schema: Deleted } },
    errors: ['operation_not_allowed', 'protected_inbox'],
  },
  getSendingPolicy: {
    ...policy,
    path: `${inboxPath}/sending-policy`,
    summary: 'Get whom an inbox may write to',
  },
  getReceivingPolicy: {
    ...policy,
    path: `${inboxPath}/receiving-policy`,
    summary: 'Get whom an inbox takes no mail from',
  },
});
