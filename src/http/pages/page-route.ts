import type { Failure } from '../../domain/errors.js';
import type { RateLimit } from '../../usecases/ports.js';
import type { Reply } from '../server/route.js';

/**
 * A page for humans, which is no operation of the API and not in its description. The server checks where a form
 * comes from, how often, its type, size and fields, and shows a readable page for whatever is wrong.
 */
export interface PageRoute {
  readonly page: true;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** By client address. */
  readonly limit?: RateLimit;
  /** Names of the fields that a form may have, each at most once. */
  readonly fields?: readonly string[];
  readonly handle: (request: PageRequest) => Reply | Promise<Reply>;
}

export interface PageRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Values of the named path segments. */
  readonly params: Readonly<Record<string, string>>;
  /** The query as it was written, behind `?`. */
  readonly queryText: string;
  /** A field of the form; empty when it was not sent. */
  readonly field: (name: string) => string;
  /** The value of a cookie; null when there is none, or more than one. */
  readonly cookie: (name: string) => string | null;
  /** What `Sec-Fetch-Site` says of whoever leads here; null in an old browser. */
  readonly site: string | null;
  /** Network address of the client. */
  readonly client: string;
}

/** The pages that a server has. */
export interface PageSet {
  readonly routes: readonly PageRoute[];
  /** How a failure looks to a human. */
  readonly failure: (failure: Failure) => Reply;
}
