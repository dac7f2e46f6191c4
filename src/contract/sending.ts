import { z } from 'zod';
import { Count, EXAMPLE, Id, Key, Mailbox, MsgRef, Ts, type Wire } from './common.js';
import { labelSet } from './labels.js';
import { BODY_BYTES, MAX_FILES, MAX_RECIPIENTS, MAX_SUBJECT_BYTES } from './limits.js';
import { AUTHENTICATION_INCLUDED, operations } from './operation.js';
import { attachmentFields, FirstSendReceipt, ReplayedSendReceipt } from './sent.js';

/** Recipients of one kind in a request. */
export const recipients = z
  .array(Mailbox)
  .max(MAX_RECIPIENTS)
  .describe(`To, Cc and Bcc have at most ${MAX_RECIPIENTS} entries together.`);

export const AttachmentInput = z.strictObject(attachmentFields).meta({ id: 'AttachmentInput' });
export type AttachmentInput = Wire<typeof AttachmentInput>;

const { filename, type } = attachmentFields;

export const AttachmentOfUpload = z
  .strictObject({ filename, type, upload_id: Id.describe('Of `createUpload`.') })
  .meta({ id: 'AttachmentOfUpload', 'x-extension': true });
export type AttachmentOfUpload = Wire<typeof AttachmentOfUpload>;

export const AttachmentOfMessage = z
  .strictObject({
    message_id: Id.describe('Of a message of the account: received and ready, or sent.'),
    attachment_id: z.string().describe('From the list of its attachments.'),
    filename: filename.optional().describe('As in the message when absent, made safe.'),
    type: type.optional().describe('As in the message when absent.'),
  })
  .meta({ id: 'AttachmentOfMessage', 'x-extension': true });
export type AttachmentOfMessage = Wire<typeof AttachmentOfMessage>;

/** A file of a message or a draft: its bytes, or where they are already. */
export type FileInput = AttachmentInput | AttachmentOfUpload | AttachmentOfMessage;

/** Absent, null and an empty array mean the same. */
export const attachments = z
  .array(z.union([AttachmentInput, AttachmentOfUpload, AttachmentOfMessage]))
  .max(MAX_FILES)
  .nullable();

export const subject = z.string().meta({
  'x-max-utf8-bytes': MAX_SUBJECT_BYTES,
  description: `At most ${MAX_SUBJECT_BYTES} bytes of UTF-8, no control characters.`,
});

const givenSubject = subject.meta({ pattern: '\\S' });
const text = z
  .string()
  .meta({ pattern: '\\S', description: 'Plain text, not blank. The attribution is added.' });
const html = z.string().describe('An HTML alternative of the text; it is not sanitised.');

export const SendInput = z
  .strictObject({
    to: recipients.min(1),
    cc: recipients.optional(),
    bcc: recipients.optional(),
    subject: givenSubject,
    text,
    html: html.optional(),
    attachments: attachments.optional(),
    in_reply_to: MsgRef.optional(),
    labels: labelSet.optional(),
    idempotency_key: Key.optional(),
  })
  .meta({
    id: 'SendInput',
    'x-null-means': 'absent',
    examples: [
      {
        to: [{ address: 'recipient@example.com', name: 'Alex' }],
        subject: 'Notes',
        text: 'Here are the notes.',
        idempotency_key: EXAMPLE.key,
      },
    ],
  });
export type SendInput = Wire<typeof SendInput>;

/** Body of `replyMessage` and `replyAllMessage`: recipients and subject follow from the message. */
export const ReplyInput = z
  .strictObject({
    message_id: MsgRef,
    text,
    html: html.optional(),
    attachments: attachments.optional(),
    labels: labelSet.optional(),
    idempotency_key: Key.optional(),
  })
  .meta({
    id: 'ReplyInput',
    'x-null-means': 'absent',
    examples: [{ message_id: EXAMPLE.messageId, text: 'Thank you.', idempotency_key: EXAMPLE.key }],
  });
export type ReplyInput = Wire<typeof ReplyInput>;

export const includeAttachments = z
  .boolean()
  .optional()
  .describe('False leaves out every file, embedded images included; true when absent.');

export const ForwardInput = z
  .strictObject({
    message_id: MsgRef,
    to: recipients.min(1),
    cc: recipients.optional(),
    bcc: recipients.optional(),
    note: z.string().optional().describe('Plain text that stands before the forwarded message.'),
    include_attachments: includeAttachments,
    labels: labelSet.optional(),
    idempotency_key: Key.optional(),
  })
  .meta({
    id: 'ForwardInput',
    'x-null-means': 'absent',
    examples: [
      {
        message_id: EXAMPLE.messageId,
        to: [{ address: 'recipient@example.com' }],
        note: 'For your information.',
        idempotency_key: EXAMPLE.key,
      },
    ],
  });
export type ForwardInput = Wire<typeof ForwardInput>;

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
export type Quota = Wire<typeof Quota>;

/** Error codes of every way of sending, besides those of its body. */
export const SENDING_ERRORS = [
  'invalid_name',
  'operation_not_allowed',
  'recipient_not_allowed',
  'reply_not_ready',
  'message_too_large',
  'storage_limit_reached',
  'outbound_limit_reached',
  'content_unavailable',
] as const;

/** Members that all operations that send have in common. */
const send = {
  method: 'POST',
  auth: 'bearer',
  tag: 'sending',
  responses: {
    201: {
      description: 'The attempt that was made; status says what became of it.',
      schema: FirstSendReceipt,
      headers: ['Location'],
    },
    200: {
      description: 'The attempt that the key stands for, as it is now; nothing was sent again.',
      schema: ReplayedSendReceipt,
      headers: ['Location'],
    },
  },
  uncertain: 'outbound_unavailable',
} as const;

const body = { limitBytes: BODY_BYTES.message, invalid: 'invalid_message' } as const;

const reply = {
  ...send,
  query: { ...AUTHENTICATION_INCLUDED, invalid: 'invalid_message' },
  body: { ...body, schema: ReplyInput },
  description:
    'Recipients and subject follow from the message; its text is not quoted. include=authentication tells in the answer who has really written it.',
  errors: [...SENDING_ERRORS, 'reply_headers_unavailable', 'reply_recipients_unavailable'],
} as const;

export const SENDING_OPERATIONS = operations({
  sendMessage: {
    ...send,
    path: '/v1/inboxes/{inbox_id}/sent',
    body: { ...body, schema: SendInput },
    summary: 'Send a message',
    description:
      'Waits for the outcome, for so long as the service is set to. 201 is no proof of delivery: look at message.status.',
    errors: [...SENDING_ERRORS, 'reply_headers_unavailable'],
  },
  replyMessage: {
    ...reply,
    path: '/v1/inboxes/{inbox_id}/reply',
    summary: 'Answer a message',
  },
  replyAllMessage: {
    ...reply,
    path: '/v1/inboxes/{inbox_id}/reply-all',
    summary: 'Answer a message to everyone',
  },
  forwardMessage: {
    ...send,
    path: '/v1/inboxes/{inbox_id}/forward',
    body: { ...body, schema: ForwardInput },
    summary: 'Forward a message',
    description:
      'With a note before it, and its files unless they are left out. A new conversation begins with it.',
    errors: SENDING_ERRORS,
  },
  getOutboundQuota: {
    method: 'GET',
    path: '/v1/outbound/quota',
    auth: 'bearer',
    tag: 'sending',
    summary: 'Get the sending allowance',
    description: 'Of the account, over the last 24 hours. Every To, Cc and Bcc entry counts one.',
    responses: { 200: { description: 'The allowance as it is now.', schema: Quota } },
    errors: ['not_found'],
    uncertain: 'outbound_unavailable',
  },
});
