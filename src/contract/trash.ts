import { z } from 'zod';
import { EXAMPLE, Id, Mailbox, nextCursor, Ts, type Wire } from './common.js';
import { ParsedAddress } from './messages.js';
import { operations, PAGE } from './operation.js';

const entry = { id: Id, inbox_id: Id, subject: z.string().nullable(), deleted_at: Ts, restorable_until: Ts };

const entryExample = {
  id: EXAMPLE.messageId,
  kind: 'received' as const,
  inbox_id: EXAMPLE.inboxId,
  subject: 'Notes',
  from: { name: 'Alex', address: 'alex@example.com' },
  envelope_from: 'alex@example.com',
  deleted_at: EXAMPLE.at,
  restorable_until: EXAMPLE.weekLater,
};

export const TrashEntry = z
  .discriminatedUnion('kind', [
    z.object({
      ...entry,
      kind: z.literal('received'),
      from: ParsedAddress.nullable().describe('Null of mail that never became ready.'),
      envelope_from: z.string(),
    }),
    z.object({ ...entry, kind: z.literal('sent'), to: z.array(Mailbox) }),
  ])
  .meta({ id: 'TrashEntry', examples: [entryExample] });
export type TrashEntry = Wire<typeof TrashEntry>;

export const TrashPage = z
  .object({ messages: z.array(TrashEntry), next_cursor: nextCursor })
  .meta({ examples: [{ messages: [entryExample], next_cursor: null }] });
export type TrashPage = Wire<typeof TrashPage>;

export const Trashed = z
  .object({
    id: Id,
    inbox_id: Id,
    status: z.enum(['trashed', 'already_trashed']),
    deleted_at: Ts,
    restorable_until: Ts.describe('From this instant on the message is gone.'),
  })
  .meta({
    id: 'Trashed',
    examples: [
      {
        id: EXAMPLE.messageId,
        inbox_id: EXAMPLE.inboxId,
        status: 'trashed',
        deleted_at: EXAMPLE.at,
        restorable_until: EXAMPLE.weekLater,
      },
    ],
  });
export type Trashed = Wire<typeof Trashed>;

export const Restored = z
  .object({
    id: Id,
    inbox_id: Id,
    thread_id: Id.nullable().describe('The conversation that it is in now; null before it is parsed.'),
    status: z.enum(['restored', 'already_live']),
    message: z.string(),
  })
  .meta({
    id: 'Restored',
    examples: [
      {
        id: EXAMPLE.messageId,
        inbox_id: EXAMPLE.inboxId,
        thread_id: EXAMPLE.threadId,
        status: 'restored',
        message: 'The message is back with its labels.',
      },
    ],
  });
export type Restored = Wire<typeof Restored>;

const trash = {
  method: 'POST',
  auth: 'bearer',
  tag: 'trash',
  description:
    'It is out of every list and count until it is restored. Send no body. A repeat changes nothing.',
  responses: { 200: { description: 'The message is in Trash.', schema: Trashed } },
  errors: ['operation_not_allowed'],
} as const;

const restore = {
  method: 'POST',
  auth: 'bearer',
  tag: 'trash',
  description: 'With its labels and attachments. Send no body. A repeat changes nothing.',
  responses: { 200: { description: 'The message is live.', schema: Restored } },
  errors: ['operation_not_allowed', 'content_unavailable'],
} as const;

export const TRASH_OPERATIONS = operations({
  trashMessage: {
    isExtension: true,
    ...trash,
    path: '/v1/messages/{message_id}/trash',
    summary: 'Move a received message to Trash',
  },
  restoreMessage: {
    ...restore,
    path: '/v1/messages/{message_id}/restore',
    summary: 'Bring a received message back from Trash',
  },
  trashSentMessage: {
    isExtension: true,
    ...trash,
    path: '/v1/sent/{message_id}/trash',
    summary: 'Move a sent message to Trash',
  },
  restoreSentMessage: {
    ...restore,
    path: '/v1/sent/{message_id}/restore',
    summary: 'Bring a sent message back from Trash',
  },
  listTrash: {
    method: 'GET',
    path: '/v1/inboxes/{inbox_id}/trash',
    auth: 'bearer',
    query: { names: PAGE, invalid: 'invalid_search' },
    tag: 'trash',
    summary: 'List the messages in Trash',
    description:
      'Last trashed first, and only what can be restored: a page may be short before the last one.',
    responses: { 200: { description: 'A page of messages.', schema: TrashPage } },
    errors: ['content_unavailable'],
  },
});
