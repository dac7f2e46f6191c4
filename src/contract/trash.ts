import { z } from 'zod';
import { EXAMPLE, Id, Mailbox, nextCursor, Ts, type Wire } from './common.js';
import { ParsedAddress } from './messages.js';

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
