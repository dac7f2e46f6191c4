import { z } from 'zod';
import { MessageAuthentication } from './authentication.js';
import { Count, Deleted, EXAMPLE, Id, nextCursor, preview, replyText, Ts, type Wire } from './common.js';
import {
  AUTHENTICATION_INCLUDED,
  LABEL_GROUPS,
  operations,
  RECEIVED_SEARCH_NAMES,
  SEARCHED_RECEIVED,
} from './operation.js';

/** A mailbox as parsed from a header field (RFC 5322 section 3.4). */
const ParsedMailbox = z.object({
  name: z.string().describe('Empty when there is no display name.'),
  address: z.string(),
});
export type ParsedMailbox = Wire<typeof ParsedMailbox>;

export const ParsedAddress = z
  .union([ParsedMailbox, z.object({ name: z.string(), group: z.array(ParsedMailbox) })])
  .meta({
    id: 'ParsedAddress',
    description:
      'A mailbox or a group of them as a header shows it. From is claimed by its sender: include=authentication of getMessage tells what proves it.',
  });
export type ParsedAddress = Wire<typeof ParsedAddress>;

const receivedBase = {
  id: Id,
  inbox_id: Id,
  thread_id: Id.nullable().describe('Null until the message is parsed.'),
  envelope_from: z.string().describe('The SMTP sender; may be a bounce address or empty.'),
  envelope_to: z.string().describe('The SMTP recipient as the sender wrote it.'),
  subject: z.string().nullable(),
  received_at: Ts,
  labels: z.array(z.string()),
};

const ready = z.literal('ready');
const notReady = z.enum(['pending', 'processing', 'failed']);

const baseExample = {
  id: EXAMPLE.messageId,
  inbox_id: EXAMPLE.inboxId,
  thread_id: EXAMPLE.threadId,
  envelope_from: 'alex@example.com',
  envelope_to: 'my-agent@agents.example.com',
  subject: 'Notes',
  received_at: EXAMPLE.at,
  processing_status: 'ready' as const,
  labels: ['needs-review'],
};

const alex = { name: 'Alex', address: 'alex@example.com' };
const summaryExample = { ...baseExample, from: alex };

/** An entry of a list: no bodies, and no previews unless they are asked for; `from` only once the message is ready. */
export const ReceivedSummary = z
  .discriminatedUnion('processing_status', [
    z.object({
      ...receivedBase,
      processing_status: ready,
      from: ParsedAddress.nullable().describe('Null when the message has no From.'),
      preview,
    }),
    z.object({ ...receivedBase, processing_status: notReady, preview }),
  ])
  .meta({ id: 'ReceivedSummary', examples: [summaryExample] });
export type ReceivedSummary = Wire<typeof ReceivedSummary>;

export const ReceivedPage = z
  .object({
    messages: z.array(ReceivedSummary),
    next_cursor: nextCursor,
    next_since: z
      .string()
      .optional()
      .describe('With wait or since only: pass it as since for the next message.'),
  })
  .meta({ examples: [{ messages: [summaryExample], next_cursor: null }] });

export const MessageCount = z.object({ count: Count }).meta({ examples: [{ count: 3 }] });

export const ReceivedAttachment = z
  .object({
    id: z.string().describe('For the download; not a file name.'),
    filename: z.string().nullable().describe('A name that is safe for a file.'),
    size: Count.describe('Bytes, decoded.'),
    mime_type: z.string(),
    disposition: z.string().nullable(),
    content_id: z.string().nullable().describe('Without angle brackets.'),
    related: z.boolean().describe('Stands in a multipart/related, as an embedded image does.'),
  })
  .meta({ id: 'ReceivedAttachment' });
export type ReceivedAttachment = Wire<typeof ReceivedAttachment>;

const addresses = z.array(ParsedAddress);
const headerText = z.string().nullable();

const headerFields = {
  from: ParsedAddress.nullable(),
  sender: ParsedAddress.nullable(),
  reply_to: addresses,
  to: addresses,
  cc: addresses,
  bcc: addresses,
  subject: headerText,
  message_id: headerText,
  in_reply_to: headerText,
  references: headerText,
  date: headerText.describe(
    'As the sender claims: ISO 8601 in UTC when the header can be read, else its text.',
  ),
};
const bodyFields = {
  text: z.string().nullable(),
  html: z.string().nullable().describe('Text from a stranger: not safe to show as markup.'),
  attachments: z.array(ReceivedAttachment),
};

export const ReceivedContentDetail = z
  .object({ ...headerFields, reply_text: replyText, ...bodyFields })
  .meta({ id: 'ReceivedContent' });

const StoredContent = z.object({ ...headerFields, ...bodyFields });
/** What the parser makes of a message, as it is stored. */
export type ReceivedContent = Wire<typeof StoredContent>;

/** Members of a message's detail in every processing state; also used by threads. */
export const receivedDetailBase = {
  ...receivedBase,
  message_id: headerText.describe('The Message-ID header, which is not the id of the resource.'),
  raw_size: Count.describe('Bytes of the original message.'),
  processed_at: Ts.nullable(),
};

const authentication = MessageAuthentication.optional().describe(
  'With include=authentication only. In every processing state: unknown until the message is ready.',
);

export const contentOfReady = { processing_status: ready, content: ReceivedContentDetail };
export const statusOfOthers = { processing_status: notReady };

export const receivedDetailExample = {
  ...baseExample,
  message_id: '<notes-1@example.com>',
  raw_size: 2381,
  processed_at: '2026-01-31T12:00:00.041Z',
  content: {
    from: alex,
    sender: null,
    reply_to: [],
    to: [{ name: '', address: 'my-agent@agents.example.com' }],
    cc: [],
    bcc: [],
    subject: 'Notes',
    message_id: '<notes-1@example.com>',
    in_reply_to: null,
    references: null,
    date: '2026-01-31T11:59:58.000Z',
    text: 'Here are the notes.\n',
    html: null,
    reply_text: null,
    attachments: [
      {
        id: EXAMPLE.attachmentId,
        filename: 'notes.pdf',
        size: 1024,
        mime_type: 'application/pdf',
        disposition: 'attachment',
        content_id: null,
        related: false,
      },
    ],
  },
};

/** `content` only once the message is ready; the raw message can be downloaded in every state. */
export const ReceivedDetail = z
  .discriminatedUnion('processing_status', [
    z.object({ ...receivedDetailBase, ...contentOfReady, authentication }),
    z.object({ ...receivedDetailBase, ...statusOfOthers, authentication }),
  ])
  .meta({ id: 'ReceivedDetail', examples: [receivedDetailExample] });

const messagePath = '/v1/messages/{message_id}';

export const MESSAGE_OPERATIONS = operations({
  listMessages: {
    method: 'GET',
    path: '/v1/inboxes/{inbox_id}/messages',
    auth: 'bearer',
    query: { ...SEARCHED_RECEIVED, names: [...SEARCHED_RECEIVED.names, 'wait', 'since'] },
    isWaiting: true,
    tag: 'messages',
    summary: 'List and search received messages',
    description:
      'Newest received first, in every processing state. Lists hold no bodies. With wait or since it is no list: the answer is the first message that meets the conditions and became ready after since, or after the request came; when none comes in time the list is empty. Then limit, order and cursor do not apply.',
    responses: { 200: { description: 'A page of messages.', schema: ReceivedPage } },
    errors: ['content_unavailable', 'cursor_expired', 'rate_limited'],
  },
  countMessages: {
    method: 'GET',
    path: '/v1/inboxes/{inbox_id}/messages/count',
    auth: 'bearer',
    query: { names: RECEIVED_SEARCH_NAMES, lists: LABEL_GROUPS, invalid: 'invalid_search' },
    tag: 'messages',
    summary: 'Count received messages',
    description: 'Messages that are not parsed yet count too. It is no count of unread messages.',
    responses: { 200: { description: 'How many messages there are now.', schema: MessageCount } },
    errors: ['content_unavailable'],
  },
  getMessage: {
    method: 'GET',
    path: messagePath,
    auth: 'bearer',
    query: AUTHENTICATION_INCLUDED,
    tag: 'messages',
    summary: 'Get a received message',
    description:
      'In every processing state; content is there when processing_status is ready. include=authentication tells who has really written it.',
    responses: { 200: { description: 'The message.', schema: ReceivedDetail } },
    errors: ['content_unavailable'],
  },
  deleteMessage: {
    method: 'DELETE',
    path: messagePath,
    auth: 'bearer',
    tag: 'messages',
    summary: 'Delete a received message for good',
    description: 'Permanent, with its attachments, whether it is parsed, in Trash or neither.',
    responses: { 202: { description: 'The message is out of reach from now on.', schema: Deleted } },
    errors: ['operation_not_allowed'],
  },
  downloadRawMessage: {
    method: 'GET',
    path: `${messagePath}/raw`,
    auth: 'bearer',
    tag: 'messages',
    summary: 'Download the original message',
    description: 'Byte for byte as it was received, in every processing state.',
    responses: { 200: { description: 'The original bytes.', bytes: 'message/rfc822' } },
    errors: ['content_unavailable'],
  },
  downloadAttachment: {
    method: 'GET',
    path: `${messagePath}/attachments/{attachment_id}`,
    auth: 'bearer',
    tag: 'messages',
    summary: 'Download an attachment',
    description: 'Of a message that is ready; its declared type is not the type of the answer.',
    responses: { 200: { description: 'The bytes of the file.', bytes: 'application/octet-stream' } },
    errors: ['content_unavailable'],
  },
});
