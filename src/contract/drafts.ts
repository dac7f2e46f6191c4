import { z } from 'zod';
import {
  deletionPending,
  EXAMPLE,
  firstResult,
  Id,
  Key,
  keyed,
  Mailbox,
  MsgRef,
  nextCursor,
  replayedResult,
  Ts,
  type Wire,
} from './common.js';
import { labelSet } from './labels.js';
import { BODY_BYTES } from './limits.js';
import { NO_PARAMETERS, operations, PAGE } from './operation.js';
import { attachments, includeAttachments, recipients, SENDING_ERRORS, subject } from './sending.js';
import { FirstDraftReceipt, RecoveredDraftReceipt, StoredAttachment } from './sent.js';

const metadataExample = {
  id: EXAMPLE.draftId,
  inbox_id: EXAMPLE.inboxId,
  state: 'draft' as const,
  subject: 'Notes',
  created_at: EXAMPLE.at,
  updated_at: EXAMPLE.at,
  sent_message_id: null,
};

export const DraftMetadata = z
  .object({
    id: Id,
    inbox_id: Id,
    state: z.enum(['draft', 'submitted']),
    subject: z.string().describe('Empty when there is none.'),
    created_at: Ts,
    updated_at: Ts,
    sent_message_id: Id.nullable().describe('The sending attempt, once submitted.'),
  })
  .meta({ id: 'DraftMetadata', examples: [metadataExample] });
export type DraftMetadata = Wire<typeof DraftMetadata>;

export const DraftPage = z
  .object({ drafts: z.array(DraftMetadata), next_cursor: nextCursor })
  .meta({ examples: [{ drafts: [metadataExample], next_cursor: null }] });
export type DraftPage = Wire<typeof DraftPage>;

const createdExample = { ...metadataExample, replayed: false, idempotency_expires_at: EXAMPLE.dayLater };

export const CreatedDraft = z
  .object({ ...DraftMetadata.shape, ...keyed })
  .meta({ id: 'CreatedDraft', examples: [createdExample] });
export type CreatedDraft = Wire<typeof CreatedDraft>;

export const FirstCreatedDraft = firstResult(CreatedDraft, createdExample);
export const ReplayedCreatedDraft = replayedResult(CreatedDraft, { ...createdExample, replayed: true });

const fields = {
  to: recipients.optional(),
  cc: recipients.optional(),
  bcc: recipients.optional(),
  subject: subject.optional(),
  text: z.string().optional().describe('Plain text; may be empty until sending.'),
  html: z.string().nullable().optional(),
  attachments: attachments.optional(),
  in_reply_to: MsgRef.nullable().optional(),
  labels: labelSet.optional(),
};

const draftSource = z
  .discriminatedUnion('action', [
    z.strictObject({ action: z.enum(['reply', 'reply-all']), message_id: MsgRef }),
    z.strictObject({
      action: z.literal('forward'),
      message_id: MsgRef,
      include_attachments: includeAttachments,
    }),
  ])
  .describe('Prepares the draft as a reply to or a forward of a message; what is given explicitly wins.');

export const CreateDraft = z
  .strictObject({ ...fields, source: draftSource.optional(), idempotency_key: Key.optional() })
  .meta({
    id: 'CreateDraft',
    'x-null-means': 'absent',
    examples: [{ subject: 'Notes', text: 'Here are the notes.', idempotency_key: EXAMPLE.key }],
  });
export type CreateDraft = Wire<typeof CreateDraft>;

export const UpdateDraft = z.strictObject(fields).meta({
  id: 'UpdateDraft',
  'x-null-means': 'empty',
  minProperties: 1,
  description: 'What is absent stays; lists are replaced; null or empty clears.',
  examples: [{ text: 'Here are the notes, corrected.', html: null }],
});
export type UpdateDraft = Wire<typeof UpdateDraft>;

export const SendDraft = z.strictObject({ idempotency_key: Key.optional() }).meta({
  id: 'SendDraft',
  'x-null-means': 'absent',
  examples: [{}],
});
export type SendDraft = Wire<typeof SendDraft>;

export const DraftContent = z
  .object({
    to: z.array(Mailbox),
    cc: z.array(Mailbox),
    bcc: z.array(Mailbox),
    subject: z.string(),
    text: z.string(),
    attachments: z.array(StoredAttachment),
    html: z.string().optional(),
    in_reply_to: Id.optional(),
    labels: z.array(z.string()).optional(),
  })
  .meta({ id: 'DraftContent', description: 'As saved, without the attribution.' });

export const DraftDetail = z
  .object({
    ...DraftMetadata.shape,
    from: Mailbox.describe('The inbox and its sender name now.'),
    content: DraftContent,
  })
  .meta({
    id: 'DraftDetail',
    examples: [
      {
        ...metadataExample,
        from: { address: 'my-agent@agents.example.com' },
        content: {
          to: [],
          cc: [],
          bcc: [],
          subject: 'Notes',
          text: 'Here are the notes.',
          attachments: [],
        },
      },
    ],
  });

export const DeletedDraft = z.object({ id: Id, status: deletionPending, message: z.string() }).meta({
  id: 'DeletedDraft',
  examples: [{ id: EXAMPLE.draftId, status: 'deletion_pending', message: 'The draft is gone.' }],
});

const draftPath = '/v1/drafts/{draft_id}';

/** Error codes of `createDraft` and `updateDraft`, besides those of the body's fields. */
const SAVE_ERRORS = [
  'invalid_name',
  'reply_not_ready',
  'message_too_large',
  'storage_limit_reached',
  'content_unavailable',
] as const;

export const DRAFT_OPERATIONS = operations({
  createDraft: {
    method: 'POST',
    path: '/v1/inboxes/{inbox_id}/drafts',
    auth: 'bearer',
    body: { limitBytes: BODY_BYTES.message, schema: CreateDraft, invalid: 'invalid_draft' },
    tag: 'drafts',
    summary: 'Create a draft',
    description:
      'Empty, filled, or prepared from a message that it answers or forwards. It costs no allowance.',
    responses: {
      201: { description: 'The new draft.', schema: FirstCreatedDraft, headers: ['Location'] },
      200: {
        description: 'The draft that the key stands for, as it is now.',
        schema: ReplayedCreatedDraft,
        headers: ['Location'],
      },
    },
    errors: [...SAVE_ERRORS, 'reply_recipients_unavailable'],
    uncertain: 'draft_unavailable',
  },
  listDrafts: {
    method: 'GET',
    path: '/v1/inboxes/{inbox_id}/drafts',
    auth: 'bearer',
    query: { names: [...PAGE, 'state'], invalid: 'invalid_draft', codes: { cursor: 'invalid_draft' } },
    tag: 'drafts',
    summary: 'List drafts',
    description: 'Last created first.',
    responses: { 200: { description: 'A page of drafts.', schema: DraftPage } },
    uncertain: 'draft_unavailable',
  },
  getDraft: {
    method: 'GET',
    path: draftPath,
    auth: 'bearer',
    query: { ...NO_PARAMETERS, invalid: 'invalid_draft' },
    tag: 'drafts',
    summary: 'Get a draft',
    description: 'With its content as saved, before the attribution.',
    responses: { 200: { description: 'The draft.', schema: DraftDetail } },
    errors: ['content_unavailable'],
    uncertain: 'draft_unavailable',
  },
  updateDraft: {
    method: 'PATCH',
    path: draftPath,
    auth: 'bearer',
    body: { limitBytes: BODY_BYTES.message, schema: UpdateDraft, invalid: 'invalid_draft' },
    tag: 'drafts',
    summary: 'Change a draft',
    description: 'Only the fields that are given change; the last write of a field wins.',
    responses: { 200: { description: 'The draft as it is now.', schema: DraftMetadata } },
    errors: [...SAVE_ERRORS, 'draft_busy', 'draft_submitted'],
    uncertain: 'draft_unavailable',
  },
  deleteDraft: {
    method: 'DELETE',
    path: draftPath,
    auth: 'bearer',
    tag: 'drafts',
    summary: 'Delete a draft for good',
    description: 'Submitted or not; its sent copy stays.',
    responses: { 202: { description: 'The draft is out of reach from now on.', schema: DeletedDraft } },
    errors: ['operation_not_allowed'],
    uncertain: 'draft_unavailable',
  },
  sendDraft: {
    method: 'POST',
    path: `${draftPath}/send`,
    auth: 'bearer',
    body: { limitBytes: BODY_BYTES.small, schema: SendDraft, invalid: 'invalid_draft' },
    tag: 'drafts',
    summary: 'Send a draft',
    description: 'What is saved is sent, once: a repeat gives the same attempt back, without end.',
    responses: {
      201: {
        description: 'The attempt that was made; status says what became of it.',
        schema: FirstDraftReceipt,
        headers: ['Location'],
      },
      200: {
        description: 'The attempt that was made before, as it is now.',
        schema: RecoveredDraftReceipt,
        headers: ['Location'],
      },
    },
    errors: [
      ...SENDING_ERRORS,
      'invalid_message',
      'invalid_labels',
      'reply_headers_unavailable',
      'draft_busy',
      'draft_result_unavailable',
    ],
    uncertain: 'draft_unavailable',
  },
});
