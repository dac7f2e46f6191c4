import type { z } from 'zod';
import type { ErrorCode, Result } from '../domain/errors.js';
import type { AccountRecord } from '../store/accounts.js';
import type { MessageInput } from '../usecases/message-access.js';
import type { ByteStream, Download } from '../usecases/read-message.js';

/**
 * A route is data: the server walks it step by step in the order that the decisions fix (authentication,
 * content type, size, JSON, fields), and the handler is left with a valid request.
 */
export interface Route {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `/v1/inboxes/{inbox_id}`: literal segments and named ones. */
  readonly path: string;
  readonly auth: 'bearer' | 'none';
  readonly query?: QuerySpec;
  readonly body?: BodySpec;
  /** Statuses of success. */
  readonly successes: readonly number[];
  /** Codes of failure that this route itself can answer with. */
  readonly errors: readonly ErrorCode[];
  readonly handle: (request: RouteRequest) => Reply | Promise<Reply>;
}

/** Query parameters. */
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
  /** Strict: unknown fields fail. */
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
  /** Only on routes with `auth: 'bearer'`. */
  readonly account: AccountRecord;
}

export type Reply =
  | { readonly kind: 'json'; readonly status: number; readonly body: object; readonly headers?: Headers }
  /** JSON that already is bytes. */
  | { readonly kind: 'json-bytes'; readonly status: number; readonly stream: ByteStream }
  | { readonly kind: 'download'; readonly contentType: string; readonly download: Download }
  | { readonly kind: 'failure'; readonly failure: Failed };

type Headers = Readonly<Record<string, string>>;
type Failed = Extract<Result<never>, { ok: false }>['failure'];

export function json(status: number, body: object, headers?: Headers): Reply {
  return headers === undefined ? { kind: 'json', status, body } : { kind: 'json', status, body, headers };
}

export function failed(result: { readonly failure: Failed }): Reply {
  return { kind: 'failure', failure: result.failure };
}

/** The usual end of a handler: a value becomes JSON, a failure its error. */
export function jsonOrFailure<Value>(
  result: Result<Value>,
  status: number,
  body: (value: Value) => object = value => value as object,
): Reply {
  return result.ok ? json(status, body(result.value)) : failed(result);
}

/** The message that a request's path names, asked for by its caller. */
export function messageOf({ account, params }: RouteRequest): MessageInput {
  return { accountId: account.id, messageId: params.message_id ?? '' };
}
