import { resolve } from 'node:path';
import { checkAcrossKeys } from './check-across-keys.js';
import type { ConfigProblem } from './config-problem.js';
import type { ConfigValue, Key, Members, Section } from './key.js';
import { KEYS } from './keys.js';
import {
  type ConfigSource,
  type Environment,
  environmentSettings,
  type FileRead,
  fileSettings,
  LOCAL_FILE,
  readFirstFile,
  readNamedFile,
  SYSTEM_FILE,
} from './layers.js';
import { settleValues } from './settle-values.js';
import { type SystemFacts, systemFacts } from './system-facts.js';

export interface LoadOptions {
  /** The file named by `--config`. When absent, the file of POSTERN_CONFIG is read, else the first of `lookIn`. */
  readonly file?: string;
  readonly env: Environment;
  readonly cwd: string;
  /** Files to try in turn; by default `SYSTEM_FILE`, then `LOCAL_FILE` in `cwd`. */
  readonly lookIn?: readonly string[];
  /** Facts of the machine; by default those of this one. */
  readonly facts?: SystemFacts;
}

export type LoadedConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly sources: ConfigSources;
      /** The file that was read; null when there is none. */
      readonly file: string | null;
    }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Where each value comes from, by dotted key (`smtp.port`). */
export type ConfigSources = ReadonlyMap<string, ConfigSource>;

/**
 * Reads file and environment, checks everything, and builds the configuration. The environment overrides the file,
 * the file overrides the defaults. All problems are reported at once; nothing is thrown for them.
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const { env, cwd, facts = systemFacts() } = options;
  const read = findFile(options);
  // A file that cannot be read may set what is missing, so missing keys are not reported then.
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

/** The configuration: one object for each section, keys in camelCase (`config.smtp.maxMessageBytes`). */
export type Config = ConfigOf<typeof KEYS>;

type ConfigOf<M extends Members> = {
  readonly [Name in keyof M & string as CamelCase<Name>]: M[Name] extends Section<infer Inner>
    ? ConfigOf<Inner>
    : ValueOf<M[Name]>;
};

/** The value of a key; only that of an optional key can be `null`. */
type ValueOf<K> = K extends Key<infer T, infer F> ? (F extends { kind: 'unset' } ? T | null : T) : never;

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** Builds the frozen configuration. `get` gives the checked value of a dotted key. */
function shapeConfig(get: (id: string) => ConfigValue | null | undefined): Config {
  // The type follows KEYS as this walk does, and each value has passed the check of its key's type.
  return shapeMembers(KEYS, '', get) as unknown as Config;
}

/** The value of a dotted key in a configuration. */
export function configValue(config: Config, id: string): ConfigValue | null {
  let value: unknown = config;
  for (const name of id.split('.')) {
    value = (value as Readonly<Record<string, unknown>>)[camelCase(name)];
  }
  return value as ConfigValue | null;
}

function shapeMembers(
  members: Members,
  outer: string,
  get: (id: string) => ConfigValue | null | undefined,
): Readonly<Record<string, unknown>> {
  const shaped: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(members)) {
    const id = outer === '' ? name : `${outer}.${name}`;
    const value = member.kind === 'section' ? shapeMembers(member.members, id, get) : get(id);
    if (value === undefined) throw new Error(`the configuration key ${id} has no value`);
    shaped[camelCase(name)] = value;
  }
  return Object.freeze(shaped);
}

/** `max_message_bytes` becomes `maxMessageBytes`. */
function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
