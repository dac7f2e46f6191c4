import { Refusal } from '../domain/errors.js';
import { reasonOf } from '../lib/async.js';
import { BackupUnusableError } from '../store/backup/manifest.js';
import { StoreFailedError, StoreReplacedError } from '../store/engine/store.js';
import { BlobMissingError } from '../store/records/blobs.js';
import { StoreInUseError } from '../usecases/upkeep/claim-store.js';
import { type Box, type Loaded, type OpenOptions, openBox, readConfig } from './context.js';
import type { CliDependencies } from './dependencies.js';
import {
  type Answer,
  type ByteSource,
  type CliFailure,
  CommandRefusal,
  EXIT,
  exitCodeOf,
} from './outcome.js';
import { OutputClosedError, printableText } from './output.js';

type Handler<Input> = (input: Input) => Answer | Promise<Answer>;

/**
 * One run of the command line: the global options, and the three ways in which a command runs. Each way writes the
 * answer or the failure, closes the store and sets `exitCode`.
 */
export interface Cli {
  readonly deps: CliDependencies;
  /** Whether `--json` was given: the answer is one JSON document. */
  isJson(): boolean;
  /** The file that `--config` names. */
  configFile(): string | undefined;
  readConfig(): Loaded;
  /** A command that needs no store. */
  plain(handler: Handler<Cli>): Promise<void>;
  /** A command that looks at the store. */
  read(handler: Handler<Box>): Promise<void>;
  /** A command that changes what is in the store. */
  change(handler: Handler<Box>, options?: OpenOptions): Promise<void>;
}

export interface GlobalOptions {
  readonly isJson: boolean;
  readonly configFile: string | undefined;
}

export interface Run {
  readonly cli: Cli;
  readonly exitCode: () => number;
}

/** `options` is a function because options are parsed only by the time a command runs. */
export function startRun(deps: CliDependencies, options: () => GlobalOptions): Run {
  let exitCode: number = EXIT.done;
  const write = async (answer: Answer): Promise<void> => {
    exitCode = await writeAnswer(deps, options().isJson, answer);
  };
  /** The one place where refusals of commands are caught. */
  const tellingFailures = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      exitCode = await reportFailure(deps, options().isJson, failureOf(error));
    }
  };
  const withBox = (handler: Handler<Box>, { makesStore, before }: OpenOptions): Promise<void> =>
    tellingFailures(async () => {
      const loaded = cli.readConfig();
      before?.(loaded);
      const { box, isNew } = await openBox(loaded.config, { makesStore });
      try {
        if (isNew) await deps.stderr(`postern: made an empty store in ${box.config.store.path}\n`);
        // Written before the store is closed: the answer may be a stream from it.
        await write(await handler(box));
      } finally {
        await box.store.close();
      }
    });
  const cli: Cli = {
    deps,
    isJson: () => options().isJson,
    configFile: () => options().configFile,
    readConfig: () => readConfig(deps, options().configFile),
    plain: async handler => endQuietly(tellingFailures(async () => write(await handler(cli)))),
    read: handler => endQuietly(withBox(handler, { makesStore: false })),
    change: (handler, open = { makesStore: false }) => withBox(handler, open),
  };
  return { cli, exitCode: () => exitCode };
}

/** The failure to report for a known error; any other error is a bug and is thrown on. */
function failureOf(error: unknown): CliFailure {
  if (error instanceof Refusal || error instanceof CommandRefusal) return error.failure;
  if (error instanceof StoreInUseError || error instanceof StoreReplacedError)
    return { code: 'store_unavailable', message: error.message };
  if (error instanceof BackupUnusableError) return { code: 'backup_unusable', message: error.message };
  if (error instanceof StoreFailedError) {
    return {
      code: 'store_unavailable',
      message: `${reasonOf(error)}. Nothing was changed. See to the disk that store.path lies on, then repeat the command.`,
    };
  }
  throw error;
}

/** A reader may close our output early (`| head`); that is no error. */
async function endQuietly(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof OutputClosedError)) throw error;
  }
}

async function writeAnswer(deps: CliDependencies, isJson: boolean, answer: Answer): Promise<number> {
  switch (answer.kind) {
    case 'document':
      await deps.stdout(isJson ? `${JSON.stringify(answer.json)}\n` : answer.text);
      return EXIT.done;
    case 'bytes':
      return writeBytes(deps, isJson, answer.bytes);
    case 'ended':
      return answer.exitCode;
  }
}

async function writeBytes(deps: CliDependencies, isJson: boolean, source: ByteSource): Promise<number> {
  try {
    for await (const bytes of source) await deps.stdout(bytes);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof BlobMissingError)) throw error;
    return reportFailure(deps, isJson, {
      code: 'content_unavailable',
      message: `The output is not complete: ${error.message}. The message was deleted while it was read, or the store is damaged.`,
    });
  }
}

/** Writes a failure to stderr, as text or as one JSON document. Resolves to its exit code. */
export async function reportFailure(
  deps: CliDependencies,
  isJson: boolean,
  failure: CliFailure,
): Promise<number> {
  const text = `postern: ${printableText(failure.message)}\n`;
  await deps.stderr(isJson ? `${JSON.stringify({ error: failure })}\n` : text);
  return exitCodeOf(failure);
}
