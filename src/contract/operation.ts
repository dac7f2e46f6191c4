import { z } from 'zod';
import { ERRORS, type ErrorCode } from './errors.js';

/** Tags of `/openapi.json`, in the order of the document. */
export const TAGS = {
  inboxes: 'Addresses of the account and the rules of who may write to and from them.',
  messages: 'Received mail: lists, search, contents, original bytes and attachments.',
  labels: 'Labels on received and sent messages.',
  sending: 'Sending, replying, forwarding, files for it, sent copies and the allowance.',
  drafts: 'Messages that are not sent yet.',
  threads: 'Conversations of received and sent messages.',
  events: 'What has happened in the account, and waiting for it.',
  webhooks: 'Being told of events by HTTP.',
  trash: 'Messages that can still be brought back.',
  signup: 'How a human approves access and an agent gets its key.',
  feedback: 'Words to the operator.',
  service: 'The service itself.',
} as const;

export type Tag = keyof typeof TAGS;

/**
 * An operation of the API as data: who may call it, what it takes, what it answers, and its documentation. The server
 * checks requests by it (src/http/server) and `/openapi.json` is made of it (src/http/openapi); neither has any other
 * source.
 */
export interface OperationSpec {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `/v1/inboxes/{inbox_id}`: literal and named segments; each name is declared in `parameters.ts`. */
  readonly path: string;
  readonly auth: 'bearer' | 'none';
  /** For callers without a key: requests of other sites are refused, and a rate limit by client address applies. */
  readonly isGuarded?: true;
  readonly query?: QuerySpec;
  readonly body?: BodySpec;
  /** In place of `body`: bytes of any kind, read by the handler as they come. */
  readonly bytes?: BytesSpec;
  /** Its answer may be held back for as long as the client and its key are there. */
  readonly isWaiting?: true;
  /** Beyond the contract that the service shares with others of its kind. */
  readonly isExtension?: true;
  readonly tag: Tag;
  /** A few words without a full stop. */
  readonly summary: string;
  /** What else a caller should know, in CommonMark. */
  readonly description?: string;
  /** Successful answers, by status. */
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /** Error codes besides those that `errorCodesOf` derives from the other members. */
  readonly errors?: readonly ErrorCode[];
  /**
   * The code for an unexpected failure, by default `internal_error`. Null when the operation does nothing that could
   * fail.
   */
  readonly uncertain?: ErrorCode | null;
}

export interface Operation extends OperationSpec {
  readonly operationId: string;
}

/** Query parameters, each declared in `parameters.ts`. */
export interface QuerySpec {
  /** Parameters that may be given at most once. */
  readonly names: readonly string[];
  /** Parameters that may be repeated, once for each value. */
  readonly lists?: readonly string[];
  /** The values of `include`, by default what lists take. */
  readonly includes?: readonly string[];
  /** `after` is a place in the feed of events. */
  readonly isFeed?: true;
  /** The error for an unknown or repeated parameter: a misspelt filter must not widen a result. */
  readonly invalid: ErrorCode;
  /** The error for a bad or repeated value, for parameters where it differs from `PARAMETER_CODES`. */
  readonly codes?: Readonly<Record<string, ErrorCode>>;
}

/** Parameters of a list that comes in pages. */
export const PAGE = ['limit', 'cursor'] as const;
/** Filters of a search: those given at most once, and those that may be repeated. */
export const SEARCH_NAMES = ['query', 'from', 'recipient', 'subject', 'after', 'before'] as const;
/** Those of received mail, where it is known more or less who has written it. */
export const RECEIVED_SEARCH_NAMES = [...SEARCH_NAMES, 'authentication'] as const;
export const LABEL_GROUPS = ['labels_all', 'labels_any', 'labels_none'] as const;

/** Parameters of a list with filters and an order. */
export const SEARCHED_PAGE = {
  names: [...PAGE, 'order', ...SEARCH_NAMES, 'include'],
  lists: LABEL_GROUPS,
  invalid: 'invalid_search',
} as const satisfies QuerySpec;

/** The same of received mail. */
export const SEARCHED_RECEIVED = {
  ...SEARCHED_PAGE,
  names: [...SEARCHED_PAGE.names, 'authentication'],
} as const satisfies QuerySpec;

/** Of an answer that can tell who has written a message. */
export const AUTHENTICATION_INCLUDED = {
  names: ['include'],
  includes: ['authentication'],
  invalid: 'invalid_search',
} as const satisfies QuerySpec;

/** A detail takes no parameters: one that is misspelt or not there yet is refused like that of a list. */
export const NO_PARAMETERS = { names: [], invalid: 'invalid_search' } as const satisfies QuerySpec;

export interface BodySpec {
  readonly limitBytes: number;
  /** A named type with an example in its `meta`. Strict: unknown fields are refused. */
  readonly schema: z.ZodType;
  /** The error for a bad body, except for fields that have their own code (`codeOfField`). */
  readonly invalid: ErrorCode;
}

export interface BytesSpec {
  readonly limitBytes: number;
}

export type ResponseSpec = JsonResponse | FileResponse;

export interface JsonResponse {
  readonly description: string;
  /** A type with an example in its `meta`. */
  readonly schema: z.ZodType;
  /** Headers besides `COMMON_HEADERS`. */
  readonly headers?: readonly ResponseHeader[];
}

/** A file download; its headers are `DOWNLOAD_HEADERS`. */
export interface FileResponse {
  readonly description: string;
  readonly bytes: 'message/rfc822' | 'application/octet-stream';
}

/** The operations of a subject by their ids. */
export function operations<const Specs extends Readonly<Record<string, OperationSpec>>>(
  specs: Specs,
): { readonly [Id in keyof Specs & string]: Specs[Id] & { readonly operationId: Id } } {
  const named = Object.entries(specs).map(([operationId, spec]) => [operationId, { operationId, ...spec }]);
  return Object.fromEntries(named);
}

/** Fields whose bad values have the same error code in every body. */
const FIELD_CODES: Readonly<Record<string, ErrorCode>> = {
  local_part: 'invalid_local_part',
  name: 'invalid_name',
  sender_name: 'invalid_name',
  idempotency_key: 'invalid_idempotency_key',
  labels: 'invalid_labels',
  message_ids: 'invalid_message_ids',
  to: 'invalid_message',
  cc: 'invalid_message',
  bcc: 'invalid_message',
  subject: 'invalid_message',
  text: 'invalid_message',
  html: 'invalid_message',
  attachments: 'invalid_message',
  in_reply_to: 'invalid_message',
};

/** The error code for a bad value of a field of this body. */
export function codeOfField({ schema, invalid }: BodySpec, field: string): ErrorCode {
  return fieldsOf(schema).includes(field) ? (FIELD_CODES[field] ?? invalid) : invalid;
}

function fieldsOf(schema: z.ZodType): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** Query parameters whose bad values have the same error code in every list. */
const PARAMETER_CODES: Readonly<Record<string, ErrorCode>> = {
  limit: 'invalid_limit',
  cursor: 'invalid_cursor',
  labels_all: 'invalid_labels',
  labels_any: 'invalid_labels',
  labels_none: 'invalid_labels',
  since: 'invalid_cursor',
};

type Failing = Pick<
  OperationSpec,
  'method' | 'path' | 'auth' | 'isGuarded' | 'query' | 'body' | 'bytes' | 'errors' | 'uncertain'
>;

const ALL = Object.keys(ERRORS) as ErrorCode[];

/**
 * Every error code that an operation can answer, by ascending status: those implied by its authentication, path,
 * query and body, and its own.
 */
export function errorCodesOf(operation: Failing): readonly ErrorCode[] {
  const { method, path, auth, isGuarded, query, body, errors = [] } = operation;
  const { uncertain = 'internal_error' } = operation;
  const codes = new Set<ErrorCode>(errors);
  // Sends and drafts have their own word for it.
  if (method !== 'GET' && uncertain === 'internal_error') codes.add('insufficient_room');
  if (uncertain !== null) codes.add(uncertain);
  if (auth === 'bearer') codes.add('unauthorized');
  if (isGuarded === true) codes.add('origin_not_allowed').add('rate_limited');
  if (path.includes('{')) codes.add('not_found');
  for (const code of query === undefined ? [] : queryCodes(query)) codes.add(code);
  for (const code of body === undefined ? [] : bodyCodes(body)) codes.add(code);
  if (operation.bytes !== undefined) codes.add('body_too_large').add('unsupported_media_type');
  return ALL.filter(code => codes.has(code));
}

function queryCodes(query: QuerySpec): ErrorCode[] {
  const { names, lists = [], invalid } = query;
  return [invalid, ...[...names, ...lists].map(name => codeOfParameter(query, name))];
}

/** The error code for a bad value of a query parameter. */
export function codeOfParameter({ invalid, codes = {} }: QuerySpec, name: string): ErrorCode {
  return codes[name] ?? PARAMETER_CODES[name] ?? invalid;
}

function bodyCodes(body: BodySpec): ErrorCode[] {
  const fields = fieldsOf(body.schema);
  const ofKey: ErrorCode[] = ['idempotency_conflict', 'idempotency_result_unavailable'];
  return [
    'invalid_json',
    'body_too_large',
    'unsupported_media_type',
    body.invalid,
    ...fields.map(field => codeOfField(body, field)),
    ...(fields.includes('idempotency_key') ? ofKey : []),
  ];
}

interface HeaderSpec {
  readonly description: string;
  readonly schema: z.ZodType;
  /** Absent: the header is always sent. */
  readonly isOptional?: true;
}

/** Every documented response header. */
export const RESPONSE_HEADERS = {
  'X-Request-ID': {
    description: 'Name it when you ask for support. It is no idempotency key.',
    schema: z.string(),
  },
  Location: {
    description: 'Path of the resource.',
    schema: z.string().meta({ format: 'uri-reference' }),
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: z.literal('Bearer') },
  'Retry-After': {
    description: 'Seconds after which a repeat may succeed; absent when waiting cannot help.',
    schema: z.string().meta({ pattern: '^[0-9]+$' }),
    isOptional: true,
  },
  'Content-Disposition': {
    description: 'attachment, with a file name that is safe.',
    schema: z.string().meta({ pattern: '^attachment' }),
  },
  'Content-Length': { description: 'Bytes.', schema: z.number().meta({ type: 'integer', minimum: 0 }) },
  'Cache-Control': { description: 'Not to be kept.', schema: z.string().meta({ pattern: 'no-store' }) },
  'X-Content-Type-Options': { description: 'Not to be guessed at.', schema: z.literal('nosniff') },
  'Content-Security-Policy': {
    description: 'Not to be run when it is shown.',
    schema: z.string().meta({ pattern: "sandbox.*default-src 'none'" }),
  },
} as const satisfies Readonly<Record<string, HeaderSpec>>;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** Headers of every answer. */
export const COMMON_HEADERS: readonly ResponseHeader[] = ['X-Request-ID'];

/** Headers of downloads, whose bytes come from strangers and are not trusted. */
export const DOWNLOAD_HEADERS: readonly ResponseHeader[] = [
  'Content-Disposition',
  'Content-Length',
  'Cache-Control',
  'X-Content-Type-Options',
  'Content-Security-Policy',
];
