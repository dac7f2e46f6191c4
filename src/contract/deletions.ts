import { z } from 'zod';
import { Count, EXAMPLE, Id } from './common.js';

const status = z.literal('deletion_pending');

/** Deletion of an inbox, a received message or a sent copy. */
export const Deleted = z.object({ id: Id, status, message: z.string() }).meta({
  id: 'Deleted',
  examples: [
    {
      id: EXAMPLE.messageId,
      status: 'deletion_pending',
      message: 'The message is gone; its stored bytes are being removed.',
    },
  ],
});

export const DeletedDraft = z.object({ id: Id, status, message: z.string() }).meta({
  id: 'DeletedDraft',
  examples: [{ id: EXAMPLE.draftId, status: 'deletion_pending', message: 'The draft is gone.' }],
});

export const DeletedThread = z
  .object({
    id: Id,
    inbox_id: Id,
    message_count: Count,
    received_count: Count,
    sent_count: Count,
    status,
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
