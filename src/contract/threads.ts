import { z } from 'zod';
import {
  Count,
  deletionPending,
  EXAMPLE,
  Id,
  Mailbox,
  nextCursor,
  preview,
  replyText,
  Ts,
  type Wire,
} from './common.js';
import { LabelChange } from './labels.js';
import { BODY_BYTES, MAX_MATCHING_IDS } from './limits.js';
import {
  contentOfReady,
  ParsedAddress,
  receivedDetailBase,
  receivedDetailExample,
  statusOfOthers,
} from './messages.js';
import { operations, PAGE, SEARCHED_PAGE } from './operation.js';
import { SentMetadata, sentDetailExample, submissionExample, submissionFields } from './sent.js';

const threadBase = {
  id: Id,
  inbox_id: Id,
  subject: z.string().nullable().describe('Of the earliest message that is still there.'),
  last_activity_at: Ts,
  message_count: Count,
  received_count: Count,
  accepted_count: Count,
  rejected_count: Count,
  unknown_count: Count,
};

const baseExample = {
  id: EXAMPLE.threadId,
  inbox_id: EXAMPLE.inboxId,
  subject: 'Notes',
  last_activity_at: EXAMPLE.at,
  message_count: 2,
  received_count: 1,
  accepted_count: 1,
  rejected_count: 0,
  unknown_count: 0,
};

export const ThreadLatestMessage = z
  .discriminatedUnion('direction', [
    z.object({
      id: Id,
      direction: z.literal('received'),
      counterpart: ParsedAddress.nullable().describe('The From of the message.'),
      preview,
    }),
    z.object({
      id: Id,
      direction: z.literal('sent'),
      counterpart: Mailbox.nullable().describe('The first To: lower case, without a name.'),
      preview,
    }),
  ])
  .meta({ id: 'ThreadLatestMessage' });
export type ThreadLatestMessage = Wire<typeof ThreadLatestMessage>;

const summaryExample = {
  ...baseExample,
  latest_message: {
    id: EXAMPLE.sentId,
    direction: 'sent' as const,
    counterpart: { address: 'recipient@example.com' },
  },
};

export const ThreadSummary = z
  .object({
    ...threadBase,
    latest_message: ThreadLatestMessage,
    matching_message_ids: z
      .array(z.string())
      .max(MAX_MATCHING_IDS)
      .optional()
      .describe(`With a filter: the messages that meet it, newest first, at most ${MAX_MATCHING_IDS}.`),
    matching_message_count: Count.optional().describe('With a filter: how many meet it.'),
  })
  .meta({ id: 'ThreadSummary', examples: [summaryExample] });
export type ThreadSummary = Wire<typeof ThreadSummary>;

export const ThreadPage = z
  .object({ threads: z.array(ThreadSummary), next_cursor: nextCursor })
  .meta({ examples: [{ threads: [summaryExample], next_cursor: null }] });
export type ThreadPage = Wire<typeof ThreadPage>;

const place = { timestamp: Ts.describe('Received or submitted: members are ordered by it.') };
const received = { ...receivedDetailBase, direction: z.literal('received'), ...place };

export const ThreadReceivedDetail = z
  .discriminatedUnion('processing_status', [
    z.object({ ...received, ...contentOfReady }),
    z.object({ ...received, ...statusOfOthers }),
  ])
  .meta({ id: 'ThreadReceivedDetail' });

const fileOfThread = z.object({ id: z.string(), filename: z.string(), mime_type: z.string(), size: Count });

export const ThreadSentDetail = z
  .object({
    ...SentMetadata.shape,
    direction: z.literal('sent'),
    ...place,
    reply_text: replyText,
    submission: z.object({ ...submissionFields, attachments: z.array(fileOfThread) }),
  })
  .meta({ id: 'ThreadSentDetail' });

export const ThreadDetail = z
  .object({
    ...threadBase,
    messages: z
      .array(z.union([ThreadReceivedDetail, ThreadSentDetail]))
      .describe('The first page has the newest messages; within a page the oldest comes first.'),
    next_cursor: nextCursor,
  })
  .meta({
    id: 'ThreadDetail',
    examples: [
      {
        ...baseExample,
        messages: [
          { ...receivedDetailExample, direction: 'received', timestamp: EXAMPLE.at },
          {
            ...sentDetailExample,
            direction: 'sent',
            timestamp: EXAMPLE.at,
            submission: {
              ...submissionExample,
              attachments: [{ id: '1', filename: 'a.txt', mime_type: 'text/plain', size: 1 }],
            },
          },
        ],
        next_cursor: null,
      },
    ],
  });

export const ThreadLabelResult = z
  .object({
    id: Id,
    inbox_id: Id,
    message_count: Count,
    received_count: Count,
    sent_count: Count,
    add_labels: z.array(z.string()),
    remove_labels: z.array(z.string()),
  })
  .meta({
    id: 'ThreadLabelResult',
    description: 'The counts are of the members; the labels are those of the request, normalised.',
    examples: [
      {
        id: EXAMPLE.threadId,
        inbox_id: EXAMPLE.inboxId,
        message_count: 2,
        received_count: 1,
        sent_count: 1,
        add_labels: ['handled'],
        remove_labels: [],
      },
    ],
  });
export type ThreadLabelResult = Wire<typeof ThreadLabelResult>;

export const DeletedThread = z
  .object({
    id: Id,
    inbox_id: Id,
    message_count: Count,
    received_count: Count,
    sent_count: Count,
    status: deletionPending,
    message: z.string(),
  })
  .meta({
    id: 'DeletedThread',
    description: 'The counts are of the messages that were moved to Trash.',
    examples: [
      {
        id: EXAMPLE.threadId,
        inbox_id: EXAMPLE.inboxId,
        message_count: 3,
        received_count: 2,
        sent_count: 1,
        status: 'deletion_pending',
        message: 'The messages of the conversation are in Trash.',
      },
    ],
  });
export type DeletedThread = Wire<typeof DeletedThread>;

const threadPath = '/v1/threads/{thread_id}';

export const THREAD_OPERATIONS = operations({
  listThreads: {
    method: 'GET',
    path: '/v1/inboxes/{inbox_id}/threads',
    auth: 'bearer',
    query: SEARCHED_PAGE,
    tag: 'threads',
    summary: 'List and search conversations',
    description:
      'Last active first. One message of a conversation must meet all conditions. A page may come back short with a cursor.',
    responses: { 200: { description: 'A page of conversations.', schema: ThreadPage } },
    errors: ['content_unavailable'],
  },
  getThread: {
    method: 'GET',
    path: threadPath,
    auth: 'bearer',
    query: { names: PAGE, invalid: 'invalid_search' },
    tag: 'threads',
    summary: 'Get a conversation',
    description: 'The newest messages first, page by page; within a page the oldest comes first.',
    responses: {
      200: { description: 'The conversation and a page of its messages.', schema: ThreadDetail },
    },
    errors: ['content_unavailable'],
  },
  updateThreadLabels: {
    method: 'PATCH',
    path: threadPath,
    auth: 'bearer',
    body: { limitBytes: BODY_BYTES.labels, schema: LabelChange, invalid: 'invalid_labels' },
    tag: 'threads',
    summary: 'Add and remove labels of every message of a conversation',
    description: 'Of those that are in it now; messages that come later get none of it.',
    responses: { 200: { description: 'How many messages it was about.', schema: ThreadLabelResult } },
  },
  deleteThread: {
    method: 'DELETE',
    path: threadPath,
    auth: 'bearer',
    tag: 'threads',
    summary: 'Move a conversation to Trash',
    description: 'Every message that is in it now. Restoring them brings the conversation back.',
    responses: { 202: { description: 'How many messages were moved.', schema: DeletedThread } },
    errors: ['operation_not_allowed'],
  },
});
