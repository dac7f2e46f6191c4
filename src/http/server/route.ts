import type { IncomingHttpHeaders } from 'node:http';
import type { Wire } from '../../contract/common.js';
import type { BytesSpec, Operation } from '../../contract/operation.js';
import type { Schema } from '../../contract/schema-book.js';
import type { Failure } from '../../domain/errors.js';
import type { AccountId } from '../../domain/ids.js';
import type { AccountRecord } from '../../store/records/accounts.js';
import type { WaitingClient } from '../../usecases/events/waiters.js';
import type { Download } from '../../usecases/mailbox/read-message.js';
import type { RateLimit } from '../../usecases/ports.js';
import type { ByteStream } from '../../usecases/shared/contents.js';
import type { Hand } from '../../usecases/shared/in-hand.js';
import type { IncomingBytes } from '../../usecases/uploads/file-uploads.js';

/**
 * An operation and its handler. The server checks authentication, query, content type, size, JSON and fields, in this
 * order, so the handler gets valid requests only.
 */
export interface Route extends Operation {
  /** For a guarded operation: requests of other sites are refused, then this limit by client address applies. */
  readonly guard?: RateLimit;
  readonly handle: (request: RouteRequest) => Reply | Promise<Reply>;
}

/** The members of a route that the server uses. */
export type ServedRoute = Pick<
  Route,
  'method' | 'path' | 'auth' | 'query' | 'body' | 'bytes' | 'isWaiting' | 'uncertain' | 'guard' | 'handle'
> & {
  /** Requests of pages of other sites are refused, before anything else. */
  readonly isOwnOriginOnly?: true;
};

/** A request that has passed every check of its operation. */
export interface RouteRequest {
  /** Values of the named path segments. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** The raw query, without `?`. */
  readonly queryText: string;
  /** The body as parsed by `body.schema`; `IncomingBytes` on routes that take bytes; undefined on routes without a body. */
  readonly body: unknown;
  /** What the request has in memory; null on routes without a body. */
  readonly hand: Hand | null;
  /** Of the request, in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Network address of the client; only on routes with a guard. */
  readonly client: string;
  /** Only on routes with `auth: 'bearer'`. */
  readonly account: AccountRecord;
  /** Only on routes that may wait (`isWaiting`). */
  readonly requester: Requester;
}

/** The client whose answer may be held back. */
export interface Requester extends WaitingClient {
  /** `Accept` and `Last-Event-ID`. */
  readonly headers: IncomingHttpHeaders;
}

export interface Query<Name extends string = string> {
  /** The value of a parameter that is given at most once. */
  get(name: Name): string | undefined;
  /** The values of a repeatable parameter; none when it is absent. */
  list(name: Name): readonly string[];
}

/** A request for an operation, typed by what the operation takes. */
export interface RequestOf<Of extends Operation> extends Omit<RouteRequest, 'params' | 'query' | 'body'> {
  readonly params: Readonly<Record<ParameterOf<Of['path']>, string>>;
  readonly query: Query<QueryNameOf<Of>>;
  readonly body: BodyOf<Of>;
}

/** The names in a path: `'inbox_id'` of `'/v1/inboxes/{inbox_id}'`. */
type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

type QueryNameOf<Of> =
  | (Of extends { readonly query: { readonly names: readonly (infer Name extends string)[] } } ? Name : never)
  | (Of extends { readonly query: { readonly lists: readonly (infer Name extends string)[] } }
      ? Name
      : never);

type BodyOf<Of> = Of extends { readonly body: { readonly schema: infer Body extends Schema } }
  ? Wire<Body>
  : Of extends { readonly bytes: BytesSpec }
    ? IncomingBytes
    : undefined;

/** The types of an operation's JSON answers; `never` for one that answers with files. */
type AnswerOf<Of extends Operation> = {
  [Status in keyof Of['responses']]: Of['responses'][Status] extends {
    readonly schema: infer Answer extends Schema;
  }
    ? Wire<Answer>
    : never;
}[keyof Of['responses']];

/** Carries out an operation. Synchronous where possible: a promise costs as much as serving a list. */
export type Handler<Of extends Operation> = (
  request: RequestOf<Of>,
) => Reply<AnswerOf<Of>> | Promise<Reply<AnswerOf<Of>>>;

type Operations = Readonly<Record<string, Operation>>;

/**
 * The routes of a subject: each of its operations with its handler.
 * @param guards the rate limits of guarded operations
 * @throws when a guarded operation has no limit
 */
export function routes<Of extends Operations>(
  operations: Of,
  handlers: { readonly [Id in keyof Of]: Handler<Of[Id]> },
  guards: Partial<Record<keyof Of, RateLimit>> = {},
): Route[] {
  return Object.values<Operation>(operations).map(operation => {
    const id: keyof Of = operation.operationId;
    const guard = guards[id];
    if (operation.isGuarded === true && guard === undefined) {
      throw new Error(`${operation.operationId} needs a guard`);
    }
    // Sound: the server validates path, query and body by the operation before it calls the handler.
    const handle = handlers[id] as Route['handle'];
    return guard === undefined ? { ...operation, handle } : { ...operation, handle, guard };
  });
}

/** Input that use cases take from a request: the account, and the id in its path. */
interface About<Name extends string> {
  readonly account: AccountRecord;
  readonly params: Readonly<Record<Name, string>>;
}

export function inboxOf({ account, params }: About<'inbox_id'>): { accountId: AccountId; inboxId: string } {
  return { accountId: account.id, inboxId: params.inbox_id };
}

export function messageOf({ account, params }: About<'message_id'>): {
  accountId: AccountId;
  messageId: string;
} {
  return { accountId: account.id, messageId: params.message_id };
}

export function draftOf({ account, params }: About<'draft_id'>): { accountId: AccountId; draftId: string } {
  return { accountId: account.id, draftId: params.draft_id };
}

export function threadOf({ account, params }: About<'thread_id'>): {
  accountId: AccountId;
  threadId: string;
} {
  return { accountId: account.id, threadId: params.thread_id };
}

export type Reply<Body = object> =
  | { readonly kind: 'json'; readonly status: number; readonly body: Body; readonly headers?: Headers }
  /** JSON that is encoded already. */
  | { readonly kind: 'json-bytes'; readonly status: number; readonly stream: ByteStream }
  | { readonly kind: 'download'; readonly contentType: string; readonly download: Download }
  /** Server-Sent Events: each piece is written when the one before has left. */
  | { readonly kind: 'event-stream'; readonly pieces: AsyncGenerator<Buffer, void> }
  /** A page for a human. */
  | { readonly kind: 'page'; readonly status: number; readonly headers: PageHeaders; readonly html: string }
  | { readonly kind: 'failure'; readonly failure: Failure; readonly headers?: Headers };

export type Headers = Readonly<Record<string, string>>;
export type PageHeaders = Readonly<Record<string, string | readonly string[]>>;

export function json<Body extends object>(status: number, body: Body, headers?: Headers): Reply<Body> {
  return headers === undefined ? { kind: 'json', status, body } : { kind: 'json', status, body, headers };
}

export function failed({ failure }: { readonly failure: Failure }, headers?: Headers): Reply<never> {
  return headers === undefined ? { kind: 'failure', failure } : { kind: 'failure', failure, headers };
}

/** The answer to a creation with an idempotency key: 201 for a new resource, 200 when an earlier request made it. */
export function created<Body extends { readonly replayed?: boolean | undefined }>(
  body: Body,
  location: string,
): Reply<Body> {
  return json(body.replayed === true ? 200 : 201, body, { Location: location });
}

/** A 200 answer of JSON that is encoded already. */
export function jsonBytes(stream: ByteStream): Reply<never> {
  return { kind: 'json-bytes', status: 200, stream };
}
