import { z } from 'zod';
import { Count, EXAMPLE, Key, Mailbox, MsgRef, Ts, type Wire } from './common.js';
import { labelSet } from './labels.js';
import {
  MAX_FILENAME_BYTES,
  MAX_FILES,
  MAX_MEDIA_TYPE_LENGTH,
  MAX_RECIPIENTS,
  MAX_SUBJECT_BYTES,
  PATTERNS,
} from './limits.js';

/** Recipients of one kind in a request. */
export const recipients = z
  .array(Mailbox)
  .max(MAX_RECIPIENTS)
  .describe(`To, Cc and Bcc have at most ${MAX_RECIPIENTS} entries together.`);

/** Facts of a file that a request hands over and a saved copy shows. */
export const attachmentFields = {
  filename: z.string().meta({
    minLength: 1,
    'x-max-utf8-bytes': MAX_FILENAME_BYTES,
    description: 'No control characters, slash or backslash.',
  }),
  type: z.string().meta({
    maxLength: MAX_MEDIA_TYPE_LENGTH,
    pattern: PATTERNS.mediaType,
    description: 'MIME type without parameters.',
  }),
  content: z.string().meta({
    contentEncoding: 'base64',
    pattern: PATTERNS.base64,
    description: 'The bytes in padded base64 without white space; empty for an empty file.',
  }),
};

export const AttachmentInput = z.strictObject(attachmentFields).meta({ id: 'AttachmentInput' });
export type AttachmentInput = Wire<typeof AttachmentInput>;

/** Absent, null and empty mean the same. */
export const attachments = z.array(AttachmentInput).max(MAX_FILES).nullable();

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

/** Of reply and reply-all: recipients and subject follow from the message. */
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
    examples: [{ message_id: EXAMPLE.messageId, text: 'Thank you.', idempotency_key: EXAMPLE.key }],
  });
export type ReplyInput = Wire<typeof ReplyInput>;

export const includeAttachments = z
  .boolean()
  .optional()
  .meta({ default: true, description: 'False leaves out every file, embedded images included.' });

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
