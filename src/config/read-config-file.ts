import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import type { ConfigProblem } from './config-problem.js';

/** Where the configuration is when nobody says. */
export const SYSTEM_FILE = '/etc/postern/postern.toml';
/** Next to where the program was started, when there is no system file. */
export const LOCAL_FILE = 'postern.toml';

export interface ConfigFile {
  readonly path: string;
  /** The folder that relative paths in it count from. */
  readonly folder: string;
  readonly table: Readonly<Record<string, unknown>>;
}

export type FileRead =
  | { readonly kind: 'read'; readonly file: ConfigFile }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly problem: ConfigProblem };

/** Reads a file that was asked for; its absence is a problem. */
export function readNamedFile(path: string, namedBy: string): FileRead {
  const read = readConfigFile(path);
  if (read.kind !== 'absent') return read;
  const fix = `Correct ${namedBy}, or write one with "postern init".`;
  return { kind: 'problem', problem: { where: path, what: 'there is no such file', fix } };
}

/** Reads the first file that exists. One that exists but cannot be read is a problem, not a reason to go on. */
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

/** The error's message goes on with the lines of the file, which may hold a secret: only its first line is used. */
function syntaxProblem(path: string, error: TomlError): ConfigProblem {
  const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '') ?? '';
  return {
    where: `${path}:${error.line}:${error.column}`,
    what: `is not TOML: ${reason}`,
    fix: 'Correct that line; texts stand in quotes, lists in brackets, and a section is opened once.',
  };
}
