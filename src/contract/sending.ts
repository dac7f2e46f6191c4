import { z } from 'zod';
import { EXAMPLE, Key, MsgRef } from './common.js';
import { labelSet } from './labels.js';
import {
  MAX_FILENAME_BYTES,
  MAX_FILES,
  MAX_MEDIA_TYPE_LENGTH,
  MAX_SUBJECT_BYTES,
  PATTERNS,
} from './limits.js';
import { recipients } from './mailbox.js';

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
