import type { ErrorCode } from '../contract/errors.js';

/** An expected failure: what an agent, or an admin at the command line, is told. */
export interface Failure {
  readonly code: ErrorCode;
  /** What happened and what to do next; its words are not a contract. */
  readonly message: string;
  /** Further members of the error object. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Members that stand beside the error object (`QuotaError` of the API). */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** After so many seconds another try may succeed (RFC 9110 section 10.2.3). */
  readonly retryAfterS?: number;
}

/**
 * An expected failure, thrown by whoever finds it and caught once at the edge: by the HTTP server and by the command
 * line. A unit of work that it leaves rolls back, so that what is refused leaves nothing behind.
 */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'Refusal';
    this.failure = failure;
  }
}

/** To be thrown: `throw refuse('not_found', ...)`. */
export function refuse(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Refusal {
  return new Refusal(details === undefined ? { code, message } : { code, message, details });
}

/** Missing, deleted and another account's resources are one and the same: nobody learns what others have. */
export function notFound(what: string): Refusal {
  return refuse('not_found', `There is no such ${what}, or it is not yours.`);
}

/** What somebody comes to who asks "would it pass?" instead of acting. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

/** Runs `act` and says how it ended; errors that are no refusal are thrown on. */
export function resultOf<Value>(act: () => Value): Result<Value> {
  try {
    return { ok: true, value: act() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, failure: error.failure };
    throw error;
  }
}
