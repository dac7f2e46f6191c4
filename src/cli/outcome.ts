import type { ErrorCode, Result } from '../domain/errors.js';

/** What scripts branch on. */
export const EXIT = { done: 0, failed: 1, usage: 2, configuration: 3, notFound: 4 } as const;

/** Codes of the command line's own, besides those of the API. */
type CliErrorCode =
  | 'usage'
  | 'invalid_configuration'
  | 'config_exists'
  | 'no_store'
  | 'store_unavailable'
  | 'store_damaged'
  | 'not_permitted'
  | 'output_failed';

export interface CliFailure {
  readonly code: ErrorCode | CliErrorCode;
  /** What happened, where, and what to do next. */
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export type ByteSource = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export type Answer =
  /** One answer in two forms: the document for `--json`, the text for a person. */
  | { readonly kind: 'document'; readonly json: unknown; readonly text: string }
  /** Bytes that go out as they are. */
  | { readonly kind: 'bytes'; readonly bytes: ByteSource }
  /** Nothing to say: the command was the daemon, which has ended. */
  | { readonly kind: 'ended'; readonly exitCode: number };

export type Failed = { readonly ok: false; readonly failure: CliFailure };

/** What a handler comes to. */
export type Outcome = { readonly ok: true; readonly value: Answer } | Failed;

export function answer(json: unknown, text: string): Outcome {
  return { ok: true, value: { kind: 'document', json, text } };
}

export function bytesAnswer(bytes: ByteSource): Outcome {
  return { ok: true, value: { kind: 'bytes', bytes } };
}

/** A use case's value as an answer, or its failure. */
export function answerWith<Value>(result: Result<Value>, text: (value: Value) => string): Outcome {
  return result.ok ? answer(result.value, text(result.value)) : result;
}

export function failed(
  code: CliFailure['code'],
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Failed {
  return { ok: false, failure: details === undefined ? { code, message } : { code, message, details } };
}

export function exitCodeOf(failure: CliFailure): number {
  switch (failure.code) {
    case 'usage':
      return EXIT.usage;
    case 'invalid_configuration':
      return EXIT.configuration;
    case 'not_found':
      return EXIT.notFound;
    default:
      return EXIT.failed;
  }
}
