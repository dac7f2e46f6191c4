import type { ErrorCode } from '../contract/errors.js';
import { Refusal } from '../domain/errors.js';

/** Exit codes; scripts rely on them. */
export const EXIT = { done: 0, failed: 1, usage: 2, configuration: 3, notFound: 4 } as const;

/** Error codes of the command line, besides those of the API. */
type CliErrorCode =
  | 'usage'
  | 'invalid_configuration'
  | 'config_exists'
  | 'no_store'
  | 'store_unavailable'
  | 'store_damaged'
  | 'backup_unusable'
  | 'program_missing'
  | 'archive_failed'
  | 'dns_wrong'
  | 'unhealthy'
  | 'certificate_failed'
  | 'import_stopped'
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
  /** No output: the command was the daemon, which has ended. */
  | { readonly kind: 'ended'; readonly exitCode: number };

/** A command cannot be carried out: thrown by its handler, caught once in `run-command.ts`. */
export class CommandRefusal extends Error {
  readonly failure: CliFailure;

  constructor(failure: CliFailure) {
    super(failure.message);
    this.name = 'CommandRefusal';
    this.failure = failure;
  }
}

export function answer(json: unknown, text: string): Answer {
  return { kind: 'document', json, text };
}

export function bytesAnswer(bytes: ByteSource): Answer {
  return { kind: 'bytes', bytes };
}

/** A use case's value as an answer. */
export function answerWith<Value>(value: Value, text: (value: Value) => string): Answer {
  return answer(value, text(value));
}

/** Makes a refusal, to be thrown: `throw failed('usage', ...)`. */
export function failed(
  code: CliFailure['code'],
  message: string,
  details?: Readonly<Record<string, unknown>>,
): CommandRefusal {
  return new CommandRefusal(details === undefined ? { code, message } : { code, message, details });
}

/** The value of `find`; throws `missing` where `find` is refused with `not_found`. */
export async function orMissing<Value>(
  missing: CommandRefusal,
  find: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    return await find();
  } catch (error) {
    throw error instanceof Refusal && error.failure.code === 'not_found' ? missing : error;
  }
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
