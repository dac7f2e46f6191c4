import { z } from 'zod';
import { Deleted } from '../common.js';
import { FEEDBACK_OPERATIONS, FeedbackResult } from '../feedback.js';
import { CreatedInbox, INBOX_OPERATIONS, Inbox, InboxList, Policy } from '../inboxes.js';
import { DELETES, inputOf, NO_HINTS, READS, REPEATABLE, SENDS, tools } from './tool.js';

/** What an agent should know of its account. */
const accountFields = {
  kind: z.enum(['agent', 'operator']).describe('operator: the account that the service itself is run with.'),
  can_send: z.boolean().describe('A permission; get_outbound_quota tells what is left of the allowance.'),
  can_delete: z.boolean(),
  inbox_limit: InboxList.shape.inbox_limit,
  inbox_allowance: InboxList.shape.inbox_allowance,
};

export const ServiceInfo = z.object({
  name: z.string(),
  website: z.string(),
  connection: z.string().describe('How programs reach it.'),
  description: z.string(),
});

export const AccountInfo = z.object(accountFields);

const { createInbox, getInbox, updateInbox, deleteInbox, listInboxes } = INBOX_OPERATIONS;
const { getSendingPolicy, getReceivingPolicy } = INBOX_OPERATIONS;

/** The service, the account and its inboxes. */
export const INBOX_TOOLS = tools({
  get_service_info: {
    title: 'About the service',
    description: 'What this mail service is and how it is reached.',
    annotations: READS,
    input: z.strictObject({}),
    output: ServiceInfo,
  },
  get_account: {
    title: 'About the account',
    description: 'What this account may do, and how many inboxes it may have.',
    annotations: READS,
    input: z.strictObject({}),
    output: AccountInfo,
  },
  list_inboxes: {
    title: 'List inboxes',
    description: 'The inboxes of the account, with their ids and addresses. Begin here.',
    annotations: READS,
    input: inputOf(listInboxes),
    output: z.object({ ...InboxList.shape, ...accountFields }),
    operation: listInboxes,
  },
  create_inbox: {
    title: 'Create an inbox',
    description:
      'Makes a new address. List inboxes first. With an idempotency_key a lost answer is recovered by the same call.',
    annotations: NO_HINTS,
    input: inputOf(createInbox),
    output: CreatedInbox,
    operation: createInbox,
  },
  get_inbox: {
    title: 'Get an inbox',
    description: 'Address and names of an inbox.',
    annotations: READS,
    input: inputOf(getInbox),
    output: Inbox,
    operation: getInbox,
  },
  update_inbox: {
    title: 'Change the names of an inbox',
    description:
      'name is for the account itself; sender_name stands in From of later mail. Null or blank clears.',
    annotations: REPEATABLE,
    input: inputOf(updateInbox),
    output: Inbox,
    operation: updateInbox,
  },
  delete_inbox: {
    title: 'Delete an inbox with all its mail',
    description:
      'There is no way back: all its mail is gone and its address is retired for ever. Only when your human has asked for exactly this.',
    annotations: DELETES,
    input: inputOf(deleteInbox),
    output: Deleted,
    operation: deleteInbox,
  },
  get_sending_policy: {
    title: 'Whom an inbox may write to',
    description: 'The rules of sending of an inbox. Only humans change them.',
    annotations: READS,
    input: inputOf(getSendingPolicy),
    output: Policy,
    operation: getSendingPolicy,
  },
  get_receiving_policy: {
    title: 'Whom an inbox takes no mail from',
    description:
      'The rules of receiving of an inbox. Only humans change them; a change does not recall mail that is here.',
    annotations: READS,
    input: inputOf(getReceivingPolicy),
    output: Policy,
    operation: getReceivingPolicy,
  },
  submit_feedback: {
    title: 'Write to the operator',
    description:
      'Feedback, or a request for a larger allowance. It goes to the operator of this service, with the address of your human for the answer.',
    annotations: SENDS,
    input: inputOf(FEEDBACK_OPERATIONS.createFeedback),
    output: FeedbackResult,
    operation: FEEDBACK_OPERATIONS.createFeedback,
  },
});
