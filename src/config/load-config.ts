import { resolve } from 'node:path';
import { checkAcrossKeys } from './check-across-keys.js';
import { type Config, shapeConfig } from './config.js';
import type { ConfigProblem } from './config-problem.js';
import { type Environment, environmentSettings } from './environment-settings.js';
import { fileSettings } from './file-settings.js';
import { type FileRead, LOCAL_FILE, readFirstFile, readNamedFile, SYSTEM_FILE } from './read-config-file.js';
import type { ConfigSource } from './setting.js';
import { settleValues } from './settle-values.js';
import { type SystemFacts, systemFacts } from './system-facts.js';

export interface LoadOptions {
  /** The file that `--config` names. Without it: POSTERN_CONFIG, then the files of `lookIn`, then none. */
  readonly file?: string;
  readonly env: Environment;
  readonly cwd: string;
  /** Files to try in turn; by default the system's, then the one in `cwd`. */
  readonly lookIn?: readonly string[];
  /** What the machine is; asked for when not given. */
  readonly facts?: SystemFacts;
}

export type LoadedConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      /** Where each value comes from, by dotted key. */
      readonly sources: ConfigSources;
      /** The file that was read; null when there is none. */
      readonly file: string | null;
    }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Sources by dotted key: `smtp.port`. */
export type ConfigSources = ReadonlyMap<string, ConfigSource>;

/**
 * Reads file and environment, checks everything, and shapes the result. The environment overrides
 * the file, the file the defaults. All problems are told at once.
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const { env, cwd, facts = systemFacts() } = options;
  const read = findFile(options);
  // What is missing may stand in a file that cannot be read; then nothing is said about it.
  const isWhole = read.kind !== 'problem';
  const fromFile = read.kind === 'read' ? fileSettings(read.file) : { settings: new Map(), problems: [] };
  const fromEnvironment = environmentSettings(env, cwd);
  const settled = settleValues({
    layers: [fromFile.settings, fromEnvironment.settings],
    facts,
    cwd,
    reportMissing: isWhole,
  });
  const problems = [
    ...(isWhole ? [] : [read.problem]),
    ...fromFile.problems,
    ...fromEnvironment.problems,
    ...settled.problems,
    ...(isWhole ? checkAcrossKeys(settled.values) : []),
  ];
  if (problems.length > 0) return { ok: false, problems };
  const sources = new Map([...settled.values].map(([id, { source }]) => [id, source]));
  return {
    ok: true,
    config: shapeConfig(id => settled.values.get(id)?.value),
    sources,
    file: read.kind === 'read' ? read.file.path : null,
  };
}

function findFile({ file, env, cwd, lookIn }: LoadOptions): FileRead {
  if (file !== undefined) return readNamedFile(resolve(cwd, file), '--config');
  if (env.POSTERN_CONFIG !== undefined && env.POSTERN_CONFIG !== '') {
    return readNamedFile(resolve(cwd, env.POSTERN_CONFIG), 'POSTERN_CONFIG');
  }
  return readFirstFile(lookIn ?? [SYSTEM_FILE, resolve(cwd, LOCAL_FILE)]);
}
