import type { ErrorCode } from '../contract/errors.js';

/** An expected failure, as an agent or an admin at the command line is told about it. */
export interface Failure {
  readonly code: ErrorCode;
  /** What happened and what to do next. Clients branch on `code`: these words may change. */
  readonly message: string;
  /** More members of the error object. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Members beside the error object, as in the schema `QuotaError` of /openapi.json. */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** Seconds after which another try may succeed (Retry-After, RFC 9110 section 10.2.3). */
  readonly retryAfterS?: number;
}

/**
 * An expected failure, thrown where it is found and caught in one place each by the HTTP server and the command line.
 * A transaction that it leaves is rolled back, so a refused request changes nothing.
 */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'Refusal';
    this.failure = failure;
  }
}

/** Makes a refusal, for the caller to throw: `throw refuse('not_found', ...)`. */
export function refuse(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Refusal {
  return new Refusal(details === undefined ? { code, message } : { code, message, details });
}

/** One refusal for missing, deleted and other accounts' resources, so that nobody learns what others have. */
export function notFound(what: string): Refusal {
  return refuse('not_found', `There is no such ${what}, or it is not yours.`);
}

/** The outcome of a check, for callers that go on either way. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

/** Runs `act` and turns a refusal into a result; other errors are thrown on. */
export function resultOf<Value>(act: () => Value): Result<Value> {
  try {
    return { ok: true, value: act() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, failure: error.failure };
    throw error;
  }
}
