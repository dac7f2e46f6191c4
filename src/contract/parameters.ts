import { z } from 'zod';
import { VERDICTS } from './authentication.js';
import { EVENT_TYPES } from './events.js';
import { labelSet } from './labels.js';
import {
  DEFAULT_PAGE,
  MAX_EVENT_WAIT_S,
  MAX_LABEL_BYTES,
  MAX_PAGE,
  MAX_QUERY_LENGTH,
  MAX_RANKED,
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
  upload_id: pathId('Id of a file that was uploaded.'),
  webhook_id: pathId('Id of a webhook.'),
};

const INSTANT = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,3})?(?:Z|[+-]\\d{2}:\\d{2})$';
const instant = z.string().meta({ pattern: INSTANT, examples: ['2026-01-31T12:00:00Z'] });
const address = z.string().meta({ maxLength: MAX_SOUGHT_ADDRESS_LENGTH, examples: ['alex@example.com'] });

function includeParameter(description: string, ...values: readonly [string, ...string[]]): ParameterSpec {
  return { isExtension: true, description, schema: z.enum(values) };
}

/** `include` of a detail that can tell who has written the message. */
const INCLUDE_AUTHENTICATION = includeParameter(
  'What the answer has besides: authentication, what proves who has written the message.',
  'authentication',
);

/** `after` of a feed of events, where elsewhere it is an instant. */
const AFTER_PLACE: ParameterSpec = {
  isExtension: true,
  description:
    'A cursor that the feed has given: what comes after it; now: what comes from now on. Without it, from the oldest event that is kept. Filters may change between calls.',
  schema: z.string(),
};

/** The parameter of this name, of an operation with this query. */
export function queryParameter(
  name: string,
  { includes = [], isFeed }: QueryTraits = {},
): ParameterSpec | undefined {
  if (isFeed === true && name === 'after') return AFTER_PLACE;
  const isOfDetail = name === 'include' && includes.includes('authentication');
  return isOfDetail ? INCLUDE_AUTHENTICATION : QUERY_PARAMETERS[name];
}

interface QueryTraits {
  readonly includes?: readonly string[];
  readonly isFeed?: true;
}

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
    description: `By the time of the service, or by relevance, which needs query: the best of the newest ${MAX_RANKED} hits first, ties newest first. That order is kept for ten minutes after its last page: what is deleted drops out, what is new is not added.`,
    schema: z.enum(['newest', 'oldest', 'relevance']).meta({ default: 'newest' }),
  },
  query: {
    isExtension: true,
    description:
      'Words, and phrases in double quotes, at most 16: each stands in the subject or the body, letter case and accents aside. There are no operators; attachments and their names are not searched, nor what follows the first 256 Ki characters of a body. A message is found once it is ready.',
    schema: z
      .string()
      .meta({ pattern: '\\S', maxLength: MAX_QUERY_LENGTH, examples: ['invoice "31 March"'] }),
  },
  include: includeParameter(
    'What entries have besides: preview, the beginning of what a message says.',
    'preview',
  ),
  authentication: {
    isExtension: true,
    description:
      'What is known of who has written the message: pass, proven by the domain in From; fail, not so although that domain publishes a policy; none, it publishes none; unknown, not found out, or not parsed yet.',
    schema: z.enum(VERDICTS),
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
  wait: {
    isExtension: true,
    description: 'Seconds to wait when there is nothing yet; 0 does not wait.',
    schema: z.number().meta({ type: 'integer', minimum: 0, maximum: MAX_EVENT_WAIT_S, default: 0 }),
  },
  since: {
    isExtension: true,
    description:
      'A cursor of the feed of events (listEvents, or next_since): only the first message that became ready after it. Without it, wait means from now on.',
    schema: z.string(),
  },
  types: {
    isExtension: true,
    description: 'Only events of one of these types.',
    schema: z.array(z.enum(EVENT_TYPES)),
  },
  inbox_id: { isExtension: true, description: 'Only events about this inbox.', schema: z.string() },
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
