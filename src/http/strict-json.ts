import { isDeepStrictEqual } from 'node:util';

/** Deepest nesting of a request body (decisions, HTTP order of checks). */
const MAX_DEPTH = 64;

const WHITE_SPACE = /[ \t\n\r]*/y;
const STRING_OR_BRACKET = /["{}[\]]/g;
const STRING_BRACKET_OR_COMMA = /["{}[\],]/g;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a request body: a JSON object in UTF-8 without byte-order mark, nested at most 64 deep, in which
 * no object gives one key two different values (parsers disagree about which one counts).
 * @returns the object, or null for anything else
 */
export function parseStrictJson(bytes: Uint8Array): Record<string, unknown> | null {
  let value: unknown;
  try {
    const text = utf8.decode(bytes);
    if (text.startsWith('\uFEFF')) return null;
    value = JSON.parse(text);
    if (!isSound(text)) return null;
  } catch {
    return null;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

interface Level {
  /** Key -> source text of its value; null in an array. */
  readonly keys: Map<string, string> | null;
  key: string;
  valueStart: number;
}

/**
 * Walks text that JSON.parse has accepted; checks depth and repeated keys. Nothing is to be learned from the
 * scalars of an array, of which a body may hold millions: they are leapt over.
 */
function isSound(text: string): boolean {
  const levels: Level[] = [];
  let at = 0;
  for (;;) {
    at = next(levels.at(-1)?.keys == null ? STRING_OR_BRACKET : STRING_BRACKET_OR_COMMA, text, at);
    if (at < 0) return true;
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
    } else if (char === '{' || char === '[') {
      if (levels.length >= MAX_DEPTH) return false;
      levels.push({ keys: char === '{' ? new Map() : null, key: '', valueStart: 0 });
      at = startMember(text, at + 1, levels);
    } else {
      if (!endMember(text, at, levels)) return false;
      if (char !== ',') levels.pop();
      at = char === ',' ? startMember(text, at + 1, levels) : at + 1;
    }
  }
}

/** Where the next of these characters stands, or -1. */
function next(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - 1 : -1;
}

/** In an object, reads the key and colon; elsewhere does nothing. Returns where the value begins. */
function startMember(text: string, behind: number, levels: readonly Level[]): number {
  const level = levels.at(-1);
  const at = skip(WHITE_SPACE, text, behind);
  if (level?.keys == null || text[at] !== '"') return at;
  const end = endOfString(text, at);
  level.key = JSON.parse(text.slice(at, end)) as string;
  level.valueStart = skip(WHITE_SPACE, text, skip(WHITE_SPACE, text, end) + 1);
  return level.valueStart;
}

/** Remembers the member that ends at `at`; false when its key had another value before. */
function endMember(text: string, at: number, levels: readonly Level[]): boolean {
  const level = levels.at(-1);
  if (level?.keys == null || level.valueStart === 0) return true;
  const source = text.slice(level.valueStart, at);
  const earlier = level.keys.get(level.key);
  level.keys.set(level.key, source);
  level.valueStart = 0;
  return earlier === undefined || isDeepStrictEqual(JSON.parse(earlier), JSON.parse(source));
}

/**
 * Where the string that begins at `at` ends. Not a pattern: on a body of megabytes one backtracks until its
 * stack is full.
 */
function endOfString(text: string, at: number): number {
  let quote = text.indexOf('"', at + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

/** An odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at + 1;
}
