import { z } from 'zod';
import { labelSet } from './labels.js';
import {
  DEFAULT_PAGE,
  MAX_LABEL_BYTES,
  MAX_PAGE,
  MAX_SOUGHT_ADDRESS_LENGTH,
  MAX_SOUGHT_SUBJECT_LENGTH,
} from './limits.js';

/**
 * Every parameter of the API, declared once for `/openapi.json`; an operation names those that it takes. Values are
 * checked where they are read (`src/http/server/query.ts`), with their error codes.
 */
export interface ParameterSpec {
  readonly description: string;
  readonly schema: z.ZodType;
  /** Beyond the contract that the service shares with others of its kind. */
  readonly isExtension?: true;
}

const pathId = (description: string): ParameterSpec => ({ description, schema: z.string() });

/** Named path segments. */
export const PATH_PARAMETERS: Readonly<Record<string, ParameterSpec>> = {
  inbox_id: pathId('Id of an inbox of the account.'),
  message_id: pathId('Id of a received or a sent message, whichever the path is about.'),
  attachment_id: pathId('Id from the attachment list of the content; not a file name.'),
  draft_id: pathId('Id of a draft.'),
  thread_id: pathId('Id of a conversation.'),
};

const INSTANT = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,3})?(?:Z|[+-]\\d{2}:\\d{2})$';
const instant = z.string().meta({ pattern: INSTANT, examples: ['2026-01-31T12:00:00Z'] });
const address = z.string().meta({ maxLength: MAX_SOUGHT_ADDRESS_LENGTH, examples: ['alex@example.com'] });

/** Query parameters. A list is given by repeating the parameter, once for each value. */
export const QUERY_PARAMETERS: Readonly<Record<string, ParameterSpec>> = {
  limit: {
    description: `Entries of a page: 1 to ${MAX_PAGE}, in decimal digits.`,
    schema: z.number().meta({ type: 'integer', minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE }),
  },
  cursor: {
    description: 'next_cursor of the page before; it goes with the same path, filters and order.',
    schema: z.string(),
  },
  order: {
    isExtension: true,
    description: 'By the time of the service.',
    schema: z.enum(['newest', 'oldest']).meta({ default: 'newest' }),
  },
  include: {
    isExtension: true,
    description: 'What entries have besides: preview, the beginning of what a message says.',
    schema: z.enum(['preview']),
  },
  from: {
    isExtension: true,
    description: 'The bare address of a mailbox in From; letter case does not matter.',
    schema: address,
  },
  recipient: {
    isExtension: true,
    description: 'The bare address of a mailbox in To, Cc or Bcc; letter case does not matter.',
    schema: address,
  },
  subject: {
    isExtension: true,
    description: 'A part of the subject; letter case does not matter.',
    schema: z.string().meta({ pattern: '\\S', maxLength: MAX_SOUGHT_SUBJECT_LENGTH }),
  },
  after: {
    isExtension: true,
    description: 'Received or submitted at or after this instant.',
    schema: instant,
  },
  before: { isExtension: true, description: 'Received or submitted before this instant.', schema: instant },
  labels_all: { description: 'Every one of these labels is on the message.', schema: labelSet },
  labels_any: { description: 'At least one of these labels is on the message.', schema: labelSet },
  labels_none: {
    description: 'None of these labels is on the message; one without labels qualifies.',
    schema: labelSet,
  },
  prefix: {
    description: 'Only labels that begin so: literal, case-sensitive, trimmed. Empty means all.',
    schema: z.string().meta({ 'x-max-utf8-bytes': MAX_LABEL_BYTES, 'x-trimmed': true }),
  },
  state: {
    description: 'Drafts in this state.',
    schema: z.enum(['draft', 'submitted', 'all']).meta({ default: 'draft' }),
  },
};
