import type { Failure } from '../../domain/errors.js';
import type { RateLimit } from '../../usecases/ports.js';
import type { Reply } from '../server/route.js';

/**
 * A page for humans; not an operation of the API and not in `/openapi.json`. The server checks the origin of a form,
 * the rate limit, type, size and fields, and answers errors with a readable page.
 */
export interface PageRoute {
  readonly page: true;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Rate limit by client address. */
  readonly limit?: RateLimit;
  /** Names of the fields that a form may have, each at most once. */
  readonly fields?: readonly string[];
  readonly handle: (request: PageRequest) => Reply | Promise<Reply>;
}

export interface PageRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Values of the named path segments. */
  readonly params: Readonly<Record<string, string>>;
  /** The raw query, without `?`. */
  readonly queryText: string;
  /** A field of the form; empty when it was not sent. */
  readonly field: (name: string) => string;
  /** The value of a cookie; null when there is none, or more than one. */
  readonly cookie: (name: string) => string | null;
  /** The value of `Sec-Fetch-Site`; null from browsers that do not send it. */
  readonly site: string | null;
  /** Network address of the client. */
  readonly client: string;
}

/** The pages of a server. */
export interface PageSet {
  readonly routes: readonly PageRoute[];
  /** The page that shows a failure. */
  readonly failure: (failure: Failure) => Reply;
}
