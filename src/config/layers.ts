import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import type { ConfigProblem } from './config-problem.js';
import { KEY_LIST, SECTIONS } from './key-list.js';
import { nearestName } from './texts.js';

/** The configuration file that is read when none is named. */
export const SYSTEM_FILE = '/etc/postern/postern.toml';
/** The file that is read when there is no system file either, in the working directory. */
export const LOCAL_FILE = 'postern.toml';

export interface ConfigFile {
  readonly path: string;
  /** The folder that relative paths in the file start from. */
  readonly folder: string;
  readonly table: Readonly<Record<string, unknown>>;
}

export type FileRead =
  | { readonly kind: 'read'; readonly file: ConfigFile }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly problem: ConfigProblem };

/** Reads a file that was named by a flag or variable (`namedBy`); its absence is a problem. */
export function readNamedFile(path: string, namedBy: string): FileRead {
  const read = readConfigFile(path);
  if (read.kind !== 'absent') return read;
  const fix = `Correct ${namedBy}, or write one with "postern init".`;
  return { kind: 'problem', problem: { where: path, what: 'there is no such file', fix } };
}

/** Reads the first file that exists. If that one cannot be read, it is a problem: later ones are not tried. */
export function readFirstFile(paths: readonly string[]): FileRead {
  for (const path of paths) {
    const read = readConfigFile(path);
    if (read.kind !== 'absent') return read;
  }
  return { kind: 'absent' };
}

function readConfigFile(path: string): FileRead {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
    const fix = 'Make it a file that the user who runs postern can read.';
    return { kind: 'problem', problem: { where: path, what: `cannot be read (${code})`, fix } };
  }
  return parseConfigFile(path, bytes);
}

function parseConfigFile(path: string, bytes: Buffer): FileRead {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const table = parse(text, { integersAsBigInt: true });
    return { kind: 'read', file: { path, folder: dirname(resolve(path)), table } };
  } catch (error) {
    if (error instanceof TomlError) return { kind: 'problem', problem: syntaxProblem(path, error) };
    const fix = 'Save it in the UTF-8 encoding.';
    return { kind: 'problem', problem: { where: path, what: 'is not UTF-8 text', fix } };
  }
}

/** Only the first line of the error's message is used: the others quote the file, which may hold a secret. */
function syntaxProblem(path: string, error: TomlError): ConfigProblem {
  const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '') ?? '';
  return {
    where: `${path}:${error.line}:${error.column}`,
    what: `is not TOML: ${reason}`,
    fix: 'Correct that line; texts stand in quotes, lists in brackets, and a section is opened once.',
  };
}

const KEY_IDS = KEY_LIST.map(key => key.id);
const SECTION_IDS = SECTIONS.map(section => section.id);
const SEE_ALL = '"postern config explain" lists all keys.';

type Table = Readonly<Record<string, unknown>>;

/** The settings of a configuration file, and a problem for each unknown key or section. */
export function fileSettings(file: ConfigFile): { settings: Settings; problems: ConfigProblem[] } {
  const settings = new Map<string, Setting>();
  const problems: ConfigProblem[] = [];
  walk(file.table, '');
  return { settings, problems };

  function walk(table: Table, outer: string): void {
    for (const [name, value] of Object.entries(table)) {
      const id = outer === '' ? name : `${outer}.${name}`;
      const where = `${file.path}: ${id}`;
      if (SECTION_IDS.includes(id)) {
        if (isTable(value)) {
          walk(value, id);
        } else {
          problems.push({
            where,
            what: 'is a section, not a key',
            fix: `Write [${id}] and its keys below it.`,
          });
        }
      } else if (KEY_IDS.includes(id)) {
        const source = { kind: 'file', file: file.path } as const;
        settings.set(id, { source, where, raw: value, written: value, folder: file.folder });
      } else {
        problems.push({ where, ...unknown(id, isTable(value)) });
      }
    }
  }
}

function unknown(id: string, isSection: boolean): { what: string; fix: string } {
  return isSection
    ? { what: 'is not a known section', fix: `Did you mean [${nearestName(id, SECTION_IDS)}]? ${SEE_ALL}` }
    : { what: 'is not a known key', fix: `Did you mean ${nearestKey(id)}? ${SEE_ALL}` };
}

/** Prefers a key of the same name in another section over one that is spelled alike. */
function nearestKey(id: string): string {
  const name = id.slice(id.lastIndexOf('.') + 1);
  const sameName = KEY_LIST.filter(key => key.name === name).map(key => key.id);
  return nearestName(id, sameName.length > 0 ? sameName : KEY_IDS);
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables with our prefix that are not configuration keys. */
export const OTHER_VARIABLES = [
  { variable: 'POSTERN_CONFIG', doc: 'Configuration file to read, unless --config names one.' },
  { variable: 'POSTERN_KEY', doc: 'Key of an account for "postern mcp", unless --key-file names a file.' },
] as const;

const PREFIX = 'POSTERN_';

/** The settings of the environment, and a problem for each unknown variable with our prefix. */
export function environmentSettings(
  environment: Environment,
  cwd: string,
): { settings: Settings; problems: ConfigProblem[] } {
  const settings = new Map<string, Setting>();
  const problems: ConfigProblem[] = [];
  const known = new Map(KEY_LIST.map(key => [key.variable, key]));
  const others: readonly string[] = OTHER_VARIABLES.map(other => other.variable);
  for (const [variable, written] of Object.entries(environment)) {
    if (!variable.startsWith(PREFIX) || written === undefined || others.includes(variable)) continue;
    const key = known.get(variable);
    if (key === undefined) {
      const nearest = nearestName(variable, [...known.keys(), ...others]);
      problems.push({
        where: variable,
        what: 'is not a known environment variable',
        fix: `Did you mean ${nearest}? "postern config explain" lists them all.`,
      });
      continue;
    }
    const source = { kind: 'environment', variable } as const;
    settings.set(key.id, { source, where: variable, raw: key.type.fromText(written), written, folder: cwd });
  }
  return { settings, problems };
}

/** Where a value comes from. */
export type ConfigSource =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'environment'; readonly variable: string };

/** A value that was set, not yet checked. */
export interface Setting {
  readonly source: ConfigSource;
  /** The place, as messages name it. */
  readonly where: string;
  /** The value as TOML would give it; undefined when the text of a variable does not fit the type. */
  readonly raw: unknown;
  /** The value as it was written, for messages. */
  readonly written: unknown;
  /** The folder that relative paths start from. */
  readonly folder: string;
}

/** Settings by dotted key. */
export type Settings = ReadonlyMap<string, Setting>;
