import { z } from 'zod';
import type { ErrorCode } from '../../contract/errors.js';
import type { Failure } from '../../domain/errors.js';
import type { AccountRecord } from '../../store/records/accounts.js';
import type { MessageInput } from '../../usecases/mailbox/message-access.js';
import type { Download } from '../../usecases/mailbox/read-message.js';
import type { RateLimit } from '../../usecases/ports.js';
import type { ByteStream } from '../../usecases/shared/contents.js';

/**
 * A route is data: the server walks it step by step in the order that the decisions fix (authentication,
 * content type, size, JSON, fields), and the handler is left with a valid request. The published document
 * (`openapi/`) is made of the same data.
 */
export type Route = DocumentedRoute | UndocumentedRoute;

interface ServedRoute {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `/v1/inboxes/{inbox_id}`: literal segments and named ones. */
  readonly path: string;
  readonly auth: 'bearer' | 'none';
  /**
   * Of a route that browsers could be sent to without a key: pages of other sites are refused, then this limit by
   * client address counts.
   */
  readonly guard?: RateLimit;
  readonly query?: QuerySpec;
  readonly body?: BodySpec;
  /** Codes of failure that this route itself can answer with; what its key and its body bring is known. */
  readonly errors: readonly ErrorCode[];
  /** What a failure answers that nobody has foreseen; `internal_error` unless another is said (wire contract 0.2). */
  readonly uncertain?: ErrorCode;
  readonly handle: (request: RouteRequest) => Reply | Promise<Reply>;
}

/** An operation of the API. */
export interface DocumentedRoute extends ServedRoute {
  readonly isDocumented?: true;
  readonly tag: Tag;
  /** A few words without a full stop. */
  readonly summary: string;
  /** What a caller should know besides: CommonMark. */
  readonly description?: string;
  /** Answers that are no errors, by status. */
  readonly responses: Readonly<Record<number, ResponseSpec>>;
}

/** A page for people, which is no part of the contract with programs. */
export interface UndocumentedRoute extends ServedRoute {
  readonly isDocumented: false;
}

export type ResponseSpec = JsonResponse | FileResponse;

export interface JsonResponse {
  readonly description: string;
  /** A type of `contract/`, with an example in its `meta`. */
  readonly schema: z.ZodType;
  /** Besides those that every answer has. */
  readonly headers?: readonly ResponseHeader[];
}

/** The answer to a download, whose headers are known. */
export interface FileResponse {
  readonly description: string;
  readonly bytes: 'message/rfc822' | 'application/octet-stream';
}

/** Query parameters, each declared in `parameters.ts`. */
export interface QuerySpec {
  /** Given at most once each. */
  readonly names: readonly string[];
  /** May be repeated, once for each value. */
  readonly lists?: readonly string[];
  /** What an unknown or repeated parameter answers, so that a misspelt filter never widens a result. */
  readonly invalid: ErrorCode;
  /** What certain parameters answer when they are repeated. */
  readonly nameCodes?: Readonly<Record<string, ErrorCode>>;
}

export interface BodySpec {
  readonly limitBytes: number;
  /** A component of `contract/`, with an example in its `meta`. Strict: unknown fields fail. */
  readonly schema: z.ZodType;
  /** What a bad body answers, and what a bad value of certain fields does. */
  readonly invalid: ErrorCode;
  readonly fieldCodes?: Readonly<Record<string, ErrorCode>>;
}

export interface Query {
  /** The value of a parameter that is given at most once. */
  get(name: string): string | undefined;
  /** The values of a repeatable parameter; none when it is absent. */
  list(name: string): readonly string[];
}

export interface RouteRequest {
  /** Values of the named path segments. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** The query as it was written, behind `?`. */
  readonly queryText: string;
  /** The parsed body, as `body.schema` gives it; undefined on routes without one. */
  readonly body: unknown;
  /** Network address of the client; only on routes with a guard. */
  readonly client: string;
  /** Only on routes with `auth: 'bearer'`. */
  readonly account: AccountRecord;
}

export type Reply =
  | { readonly kind: 'json'; readonly status: number; readonly body: object; readonly headers?: Headers }
  /** JSON that already is bytes. */
  | { readonly kind: 'json-bytes'; readonly status: number; readonly stream: ByteStream }
  | { readonly kind: 'download'; readonly contentType: string; readonly download: Download }
  /** A page for a human. */
  | { readonly kind: 'page'; readonly status: number; readonly headers: PageHeaders; readonly html: string }
  | { readonly kind: 'failure'; readonly failure: Failure; readonly headers?: Headers };

export type Headers = Readonly<Record<string, string>>;
export type PageHeaders = Readonly<Record<string, string | readonly string[]>>;

export function json(status: number, body: object, headers?: Headers): Reply {
  return headers === undefined ? { kind: 'json', status, body } : { kind: 'json', status, body, headers };
}

export function failed({ failure }: { readonly failure: Failure }, headers?: Headers): Reply {
  return headers === undefined ? { kind: 'failure', failure } : { kind: 'failure', failure, headers };
}

/** The message that a request's path names, asked for by its caller. */
export function messageOf({ account, params }: RouteRequest): MessageInput {
  return { accountId: account.id, messageId: params.message_id ?? '' };
}

/** Chapters of the published document, in its order. */
export const TAGS = {
  inboxes: 'Addresses of the account and the rules of who may write to and from them.',
  messages: 'Received mail: lists, search, contents, original bytes and attachments.',
  labels: 'Labels on received and sent messages.',
  sending: 'Sending, replying, forwarding, sent copies and the allowance.',
  drafts: 'Messages that are not sent yet.',
  threads: 'Conversations of received and sent messages.',
  trash: 'Messages that can still be brought back.',
  signup: 'How a human approves access and an agent gets its key.',
  feedback: 'Words to the operator.',
  service: 'The service itself.',
} as const;

export type Tag = keyof typeof TAGS;

interface HeaderSpec {
  readonly description: string;
  readonly schema: z.ZodType;
  /** Absent means always there. */
  readonly isOptional?: true;
}

/** Every header that an answer of the API documents. */
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

/** On every answer. */
export const COMMON_HEADERS: readonly ResponseHeader[] = ['X-Request-ID'];

/** On files from strangers (specification, Downloads). */
export const DOWNLOAD_HEADERS: readonly ResponseHeader[] = [
  'Content-Disposition',
  'Content-Length',
  'Cache-Control',
  'X-Content-Type-Options',
  'Content-Security-Policy',
];
