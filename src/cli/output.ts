import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Write } from './dependencies.js';
import type { ByteSource } from './outcome.js';

export type Cell = string | number | boolean | null;

/** Control characters and bidirectional formatting: they could change what a terminal shows. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** A value in one line, with control characters as escapes. */
export function printable(value: Cell): string {
  if (value === null) return '-';
  return String(value).replace(UNPRINTABLE, escapeCharacter);
}

/** A text of several lines: line ends and tabs stay. */
export function printableText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNPRINTABLE, char => (char === '\n' || char === '\t' ? char : escapeCharacter(char)));
}

function escapeCharacter(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** One record, a field a line. */
export function renderFields(record: object): string {
  const entries = Object.entries(record) as [string, Cell][];
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
}

/** Records as a table; `none` is said when there are no records. */
export function renderTable(records: readonly object[], columns: readonly string[], none: string): string {
  if (records.length === 0) return `${none}\n`;
  const rows = [
    columns.map(column => column.toUpperCase()),
    ...records.map(record =>
      columns.map(column => shorten(printable((record as Record<string, Cell>)[column] ?? null))),
    ),
  ];
  const widths = columns.map((_column, index) =>
    Math.max(...rows.map(row => displayWidth(row[index] ?? ''))),
  );
  const lines = rows.map(row => row.map((cell, index) => pad(cell, widths[index] ?? 0)).join('  '));
  return lines.map(line => `${line.trimEnd()}\n`).join('');
}

/** A cell wider than this is cut: the table stays a table, `--json` has it whole. */
const MAX_CELL = 72;

function shorten(text: string): string {
  const characters = [...text];
  return characters.length > MAX_CELL ? `${characters.slice(0, MAX_CELL - 1).join('')}…` : text;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
const DOUBLE_WIDTH =
  /[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u;

/** Columns of a terminal that the text takes, approximately (Unicode Standard Annex 11). */
function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) {
    if (NO_WIDTH.test(char)) continue;
    width += DOUBLE_WIDTH.test(char) ? 2 : 1;
  }
  return width;
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 'bytes';
  for (const larger of UNITS) {
    if (value < 1024) break;
    value /= 1024;
    unit = larger;
  }
  return `${unit === 'bytes' ? value : value.toFixed(1)} ${unit}`;
}

/** The two largest units: `3 d 4 h`, `12 s`. */
export function formatDuration(seconds: number): string {
  const parts: string[] = [];
  let rest = seconds;
  for (const [unit, length] of [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 s';
}

/** The reader of our output has closed it, as `head` does when it has enough lines. */
export class OutputClosedError extends Error {
  constructor() {
    super('nobody reads the output any more');
    this.name = 'OutputClosedError';
  }
}

/** The output could not take what was written: a full disk, most likely. */
export class OutputFailedError extends Error {
  constructor(cause: Error) {
    super(`the output cannot be written: ${cause.message}`, { cause });
    this.name = 'OutputFailedError';
  }
}

/**
 * A `Write` for a stream of the process. It also listens to the stream's `error` event for good: Node emits it besides
 * calling the callback, and without a listener it would crash the process.
 */
export function writeTo(stream: Writable & { readonly fd?: number }): Write {
  stream.on('error', () => {});
  const { fd } = stream;
  const write = fd !== undefined && fstatSync(fd).isFile() ? toFile(fd) : toStream(stream);
  return async data => {
    try {
      await write(data);
    } catch (error) {
      throw isClosed(error) ? new OutputClosedError() : new OutputFailedError(error as Error);
    }
  };
}

/** Node's stream over a file treats a short write as a whole one: on a full disk, bytes would be lost silently. */
function toFile(fd: number): Write {
  return async data => {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  };
}

function toStream(stream: Writable): Write {
  return data =>
    new Promise((resolve, reject) => {
      stream.write(data, error => (error === null || error === undefined ? resolve() : reject(error)));
    });
}

function isClosed(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}

/** Reads all bytes and parses them as JSON. */
export async function parseWhole<Detail>(bytes: ByteSource): Promise<Detail> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as Detail;
}

/** Adds a line end after the last byte. */
export async function* withLineEnd(bytes: ByteSource): AsyncGenerator<Uint8Array> {
  yield* bytes;
  yield Buffer.from('\n');
}
