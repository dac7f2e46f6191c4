import { z } from 'zod';
import {
  MAX_ADDRESS_LENGTH,
  MAX_LABEL_BYTES,
  MAX_NAME_BYTES,
  MAX_PREVIEW_LENGTH,
  PATTERNS,
} from './limits.js';

/**
 * The TypeScript type of a published schema, deeply read-only. Every type of the API that the code uses is declared
 * with it, beside its schema and under the same name.
 */
export type Wire<Schema extends z.ZodType> = Frozen<z.infer<Schema>>;

type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

/**
 * What many operations share. A type with an `id` becomes a component of `/openapi.json`. Constraints that stand
 * only in `meta` are not checked by zod: the domain checks them and answers with the error code of the field.
 */

export const Id = z.string().meta({
  id: 'Id',
  description: 'Id of a resource, made by the service. It is not the Message-ID of an email.',
});

export const Ts = z.string().meta({
  id: 'Ts',
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'An instant of the service: UTC, with milliseconds and Z.',
});

export const Key = z.string().meta({
  id: 'Key',
  pattern: PATTERNS.idempotencyKey,
  description:
    'Idempotency key: for 24 hours a repeat with the same key and input answers with the first result.',
});

export const MsgRef = z.string().meta({
  id: 'MsgRef',
  pattern: PATTERNS.messageRef,
  description: 'Id of a received or sent message in the same inbox.',
});

export const Name = z.string().meta({
  id: 'Name',
  'x-max-utf8-bytes': MAX_NAME_BYTES,
  'x-trimmed': true,
  description: `A display name: trimmed, at most ${MAX_NAME_BYTES} bytes of UTF-8, no control characters. Blank means no name.`,
});

export const Label = z.string().meta({
  id: 'Label',
  pattern: '\\S',
  'x-max-utf8-bytes': MAX_LABEL_BYTES,
  'x-trimmed': true,
  description: `A label: trimmed, then 1 to ${MAX_LABEL_BYTES} bytes of UTF-8, no control characters, case-sensitive.`,
});

/** Not `z.int()`, which would publish JavaScript's largest safe integer as the maximum. */
export const Count = z.number().min(0).meta({ id: 'Count', type: 'integer' });

/** The last member of every page of a list. */
export const nextCursor = z
  .string()
  .nullable()
  .describe('Pass it as cursor, with the same filters, for the next page; null after the last one.');

/** Members of the answer to a creation with an idempotency key; both are absent without one. */
export const keyed = {
  replayed: z.boolean().optional().describe('True when this repeats the result of an earlier request.'),
  idempotency_expires_at: Ts.optional().describe('Until then the key is protected.'),
};

export type Keyed = Wire<z.ZodObject<typeof keyed>>;

/**
 * The 201 answer of an operation that takes an idempotency key: this request made the resource. In TypeScript it has
 * the type of both answers, this one and `replayedResult`.
 */
export function firstResult<Schema extends z.ZodType>(
  schema: Schema,
  example: z.input<Schema>,
): z.ZodType<z.output<Schema>> {
  const first = z.object({ replayed: z.literal(false).optional() });
  return z.intersection(schema, first).meta({ examples: [example] }) as z.ZodType<z.output<Schema>>;
}

/** The 200 answer of an operation that takes an idempotency key: an earlier request made the resource. */
export function replayedResult<Schema extends z.ZodType>(
  schema: Schema,
  example: z.input<Schema>,
): z.ZodType<z.output<Schema>> {
  const replay = z.object({ replayed: z.literal(true), idempotency_expires_at: Ts });
  return z.intersection(schema, replay).meta({ examples: [example] }) as z.ZodType<z.output<Schema>>;
}

/** Ids and times of the examples. */
export const EXAMPLE = {
  inboxId: '01936f3c-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  messageId: '01936f41-77aa-7b10-9c21-0d1e2f3a4b5c',
  sentId: '01936f4a-02bc-7d53-a8f7-1c2d3e4f5a6b',
  draftId: '01936f4f-5e11-7f02-8b44-9a8b7c6d5e4f',
  threadId: '01936f41-77ab-7e61-bb02-6f5e4d3c2b1a',
  attachmentId: '2',
  at: '2026-01-31T12:00:00.000Z',
  dayLater: '2026-02-01T12:00:00.000Z',
  weekLater: '2026-02-07T12:00:00.000Z',
  key: 'research-2026-01-31',
} as const;

/** An address with an optional name: a recipient in a request, and in a saved copy. */
export const Mailbox = z
  .strictObject({
    address: z.string().meta({
      maxLength: MAX_ADDRESS_LENGTH,
      description: 'A bare ASCII address, its local part at most 64 characters; no display name in it.',
    }),
    name: Name.optional(),
  })
  .meta({ id: 'Mailbox', examples: [{ address: 'recipient@example.com', name: 'Alex' }] });
export type Mailbox = Wire<typeof Mailbox>;

/** The beginning of what a message says, for lists. */
export const Preview = z
  .object({
    text: z.string().meta({
      maxLength: MAX_PREVIEW_LENGTH,
      description: 'One line: each run of white space is one space.',
    }),
    truncated: z.boolean().describe('There is more of it.'),
    source: z.enum(['reply_text', 'text', 'html']),
  })
  .meta({
    id: 'Preview',
    examples: [{ text: 'Here are the notes.', truncated: false, source: 'reply_text' }],
  });
export type Preview = Wire<typeof Preview>;

/** Member of an entry of a list. */
export const preview = Preview.nullable()
  .optional()
  .describe(
    'With include=preview only. The beginning of reply_text; where that is null, of the text or of the HTML. Null while the message is not ready.',
  );

/** Member of a detail: the new words of an answer. */
export const replyText = z
  .string()
  .nullable()
  .describe(
    'The new words of an answer, without quoted text and signature; empty when there are none. Mail that is passed on is no quoted text. Null: they could not be told apart, as in very long texts, and in mail from before for as long as it has not been looked through.',
  );

export const deletionPending = z.literal('deletion_pending');

/** The answer to the deletion of an inbox, a received message or a sent copy. */
export const Deleted = z.object({ id: Id, status: deletionPending, message: z.string() }).meta({
  id: 'Deleted',
  examples: [
    {
      id: EXAMPLE.messageId,
      status: 'deletion_pending',
      message: 'The message is gone; its stored bytes are being removed.',
    },
  ],
});
export type Deleted = Wire<typeof Deleted>;
