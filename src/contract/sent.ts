import { z } from 'zod';
import { MessageAuthentication } from './authentication.js';
import {
  Count,
  Deleted,
  EXAMPLE,
  firstResult,
  Id,
  keyed,
  Mailbox,
  nextCursor,
  preview,
  replayedResult,
  replyText,
  Ts,
  type Wire,
} from './common.js';
import { MAX_FILENAME_BYTES, MAX_MEDIA_TYPE_LENGTH, PATTERNS } from './limits.js';
import { NO_PARAMETERS, operations, SEARCHED_PAGE } from './operation.js';

const metadataFields = {
  id: Id,
  inbox_id: Id,
  created_at: Ts,
  recipient_count: Count,
  status: z
    .enum(['accepted', 'rejected', 'unknown'])
    .describe(
      'accepted: the relay took it, or it is queued here to be delivered; neither proves a delivery. rejected: refused before that, not charged. unknown: not confirmed; do not send it again without looking.',
    ),
  provider_message_id: z.string().nullable().describe('The Message-ID, once accepted.'),
  error_code: z
    .string()
    .nullable()
    .describe(
      'What the relay said, such as E_RECIPIENT_REJECTED or acceptance_unknown; the set is open. After E_TEMPORARY_FAILURE nobody has the message and nothing was charged: the same send may be tried again later, with a new idempotency key.',
    ),
  thread_id: Id.nullable(),
  in_reply_to: Id.nullable().describe('Id of the message that it answers.'),
  labels: z.array(z.string()),
};

const metadataExample = {
  id: EXAMPLE.sentId,
  inbox_id: EXAMPLE.inboxId,
  created_at: EXAMPLE.at,
  recipient_count: 1,
  status: 'accepted' as const,
  provider_message_id: `<${EXAMPLE.sentId}@agents.example.com>`,
  error_code: null,
  thread_id: EXAMPLE.threadId,
  in_reply_to: null,
  labels: [],
};

export const SentMetadata = z
  .object(metadataFields)
  .meta({ id: 'SentMetadata', examples: [metadataExample] });
export type SentMetadata = Wire<typeof SentMetadata>;

/** An entry of a list: no subject, no recipients, no bodies; a preview if it is asked for. */
export const SentSummary = z
  .object({ ...metadataFields, preview })
  .meta({ id: 'SentSummary', examples: [metadataExample] });

export const SentPage = z
  .object({ messages: z.array(SentSummary), next_cursor: nextCursor })
  .meta({ examples: [{ messages: [metadataExample], next_cursor: null }] });

/** Fields of an attachment, in requests and in saved copies. */
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

export const StoredAttachment = z
  .object({
    ...attachmentFields,
    disposition: z.enum(['attachment', 'inline']),
    contentId: z.string().optional().describe('Of an embedded image of a forward.'),
  })
  .meta({ id: 'StoredAttachment' });

/** Members of a submission except its attachments; threads show those without their bytes. */
export const submissionFields = {
  from: Mailbox.describe('The inbox and its sender name at the time of sending.'),
  to: z.array(Mailbox),
  cc: z.array(Mailbox),
  bcc: z.array(Mailbox).describe('Kept here; never in what is transmitted.'),
  subject: z.string(),
  text: z.string().describe('With the attribution.'),
  html: z.string().optional(),
  headers: z.object({ 'In-Reply-To': z.string(), References: z.string() }).optional().describe('Of a reply.'),
};

export const Submission = z
  .object({ ...submissionFields, attachments: z.array(StoredAttachment) })
  .meta({ id: 'Submission' });

export const submissionExample = {
  from: { address: 'my-agent@agents.example.com' },
  to: [{ address: 'recipient@example.com', name: 'Alex' }],
  cc: [],
  bcc: [],
  subject: 'Notes',
  text: 'Here are the notes.\n\nSent via Postern',
};

export const sentDetailExample = {
  ...metadataExample,
  reply_text: null,
  submission: {
    ...submissionExample,
    attachments: [
      { filename: 'a.txt', type: 'text/plain', content: 'YQ==', disposition: 'attachment' as const },
    ],
  },
};

export const SentDetail = z
  .object({ ...metadataFields, reply_text: replyText, submission: Submission })
  .meta({ id: 'SentDetail', examples: [sentDetailExample] });

const unkeyedExample = { limited: false as const, message: metadataExample, outcome_persisted: true };
const receiptExample = { ...unkeyedExample, replayed: false, idempotency_expires_at: EXAMPLE.dayLater };

export const SendReceipt = z
  .object({
    limited: z.literal(false),
    message: SentMetadata,
    outcome_persisted: z
      .boolean()
      .describe('False: the outcome is known but could not be saved; a later read may say unknown.'),
    authentication: MessageAuthentication.optional().describe(
      'Of a reply, with include=authentication only: who has written the message that it answers; absent where that was sent from here or is gone.',
    ),
    ...keyed,
  })
  .meta({ id: 'SendReceipt', examples: [receiptExample] });
export type SendReceipt = Wire<typeof SendReceipt>;

/** The 201 and 200 answers of `sendMessage`, `replyMessage`, `replyAllMessage` and `forwardMessage`. */
export const FirstSendReceipt = firstResult(SendReceipt, receiptExample);
export const ReplayedSendReceipt = replayedResult(SendReceipt, { ...receiptExample, replayed: true });

/** The same of `sendDraft`. A draft is sent once even without a key, so key and expiry may be absent. */
export const FirstDraftReceipt = firstResult(SendReceipt, unkeyedExample);
export const RecoveredDraftReceipt = z
  .intersection(SendReceipt, z.object({ replayed: z.literal(true) }))
  .meta({ examples: [{ ...unkeyedExample, replayed: true }] });

const sentPath = '/v1/sent/{message_id}';

export const SENT_OPERATIONS = operations({
  listSentMessages: {
    method: 'GET',
    path: '/v1/inboxes/{inbox_id}/sent',
    auth: 'bearer',
    query: SEARCHED_PAGE,
    tag: 'sending',
    summary: 'List and search sent messages',
    description: 'Newest submitted first, whatever became of them. Lists hold no bodies.',
    responses: { 200: { description: 'A page of messages.', schema: SentPage } },
    errors: ['content_unavailable'],
    uncertain: 'outbound_unavailable',
  },
  getSentMessage: {
    method: 'GET',
    path: sentPath,
    auth: 'bearer',
    query: NO_PARAMETERS,
    tag: 'sending',
    summary: 'Get a sent message',
    description: 'With what was sent: recipients, bodies with the attribution, files.',
    responses: { 200: { description: 'The message.', schema: SentDetail } },
    errors: ['content_unavailable'],
    uncertain: 'outbound_unavailable',
  },
  deleteSentMessage: {
    method: 'DELETE',
    path: sentPath,
    auth: 'bearer',
    tag: 'sending',
    summary: 'Delete a sent message for good',
    description: 'Permanent, with its attachments. It refunds nothing and frees no key.',
    responses: { 202: { description: 'The message is out of reach from now on.', schema: Deleted } },
    errors: ['operation_not_allowed'],
  },
});
