import { isDeepStrictEqual } from 'node:util';
import { asBuffer, BYTE } from '../../lib/bytes.js';

/** Deepest nesting of a request body. */
export const MAX_DEPTH = 64;

/**
 * Commas and opening brackets of a request body: each member of an object or array takes one of them. The largest
 * body that the API has a use for takes some hundreds (100 message ids and 64 labels; 50 recipients and 32 files).
 */
export const MAX_MEMBERS = 10_000;

/**
 * Bytes that are parsed to compare the values of a repeated key where they are spelt in two ways. Repeats nested in
 * repeats would be parsed once a level; what needs more than this is refused.
 */
const MAX_COMPARED_BYTES = 16 * 2 ** 20;

/** Bytes that are looked at between two pauses. */
const STEP_BYTES = 256 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a request body: a JSON object in UTF-8 without byte-order mark, nested at most 64 deep, of at most
 * `MAX_MEMBERS`. No object may have the same key twice with different values, because parsers disagree about which
 * value counts. One scan over the bytes finds out before anything is built of them, so that the rest has only a
 * bounded number of values to make.
 * @returns the object, or null for anything else
 */
export function* parseStrictJson(bytes: Uint8Array): Generator<void, Record<string, unknown> | null> {
  const body = asBuffer(bytes);
  try {
    if (!(yield* new Scan(body).isSound())) return null;
    const text = yield* decode(body);
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Decodes UTF-8 in pieces that end between characters. @throws TypeError for anything else */
function* decode(body: Buffer): Generator<void, string> {
  let text = '';
  for (let at = 0; at < body.length; ) {
    let end = Math.min(at + STEP_BYTES, body.length);
    // A character has three continuation bytes (10xxxxxx) at most.
    for (let back = 0; back < 3 && isContinuation(body[end]); back++) end--;
    text += utf8.decode(body.subarray(at, end));
    at = end;
    if (at < body.length) yield;
  }
  // JSON has no such character outside of strings: JSON.parse refuses a byte-order mark.
  return text;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

const { TAB, LF, CR, SPACE } = BYTE;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Where the text of a value stands, white space around it included. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** An object or array that is open. */
interface Level {
  /** What the keys so far stand for; null for an array. */
  readonly values: Map<string, Span> | null;
  /** The key of the current member; null until it was read. */
  key: string | null;
  valueStart: number;
}

/**
 * Looks at strings, brackets, colons and commas only. Of text that is not JSON it may say anything, without harm:
 * `JSON.parse` refuses that afterwards.
 */
class Scan {
  readonly #body: Buffer;
  readonly #levels: Level[] = [];
  #members = 0;
  #comparedBytes = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Whether depth, members and repeated keys are as they may be. */
  *isSound(): Generator<void, boolean> {
    const body = this.#body;
    let pauseAt = STEP_BYTES;
    for (let at = 0; at < body.length; ) {
      const byte = body[at];
      if (byte === QUOTE) {
        let end = at + 1;
        for (;;) {
          end = stringEnd(body, end, pauseAt);
          if (end < pauseAt) break;
          // It has no end, and this is not JSON.
          if (end >= body.length) return true;
          yield;
          pauseAt = end + STEP_BYTES;
        }
        this.#takeKey(at, end);
        at = end;
      } else if (!this.#take(byte, at)) {
        return false;
      }
      at++;
      if (at < pauseAt) continue;
      yield;
      pauseAt = at + STEP_BYTES;
    }
    return true;
  }

  /** A byte outside of strings. */
  #take(byte: number | undefined, at: number): boolean {
    switch (byte) {
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        return this.#open(byte === OPEN_OBJECT);
      case COLON:
        this.#startValue(at + 1);
        return true;
      case COMMA:
        return this.#endMember(at) && this.#countMember();
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        return this.#endMember(at) && this.#levels.pop() !== undefined;
      default:
        return true;
    }
  }

  #open(isObject: boolean): boolean {
    if (this.#levels.length >= MAX_DEPTH) return false;
    this.#levels.push({ values: isObject ? new Map() : null, key: null, valueStart: 0 });
    return this.#countMember();
  }

  #countMember(): boolean {
    this.#members++;
    return this.#members <= MAX_MEMBERS;
  }

  /** A string has been read; the first one of a member is its key. */
  #takeKey(quote: number, end: number): void {
    const level = this.#levels.at(-1);
    if (level === undefined || level.values === null || level.key !== null) return;
    const key = this.#body.toString('utf8', quote + 1, end);
    level.key = key.includes('\\') ? (JSON.parse(`"${key}"`) as string) : key;
  }

  #startValue(at: number): void {
    const level = this.#levels.at(-1);
    if (level !== undefined) level.valueStart = at;
  }

  /** False when its key already had a different value. */
  #endMember(end: number): boolean {
    const level = this.#levels.at(-1);
    if (level === undefined || level.values === null || level.key === null) return true;
    const value = { start: level.valueStart, end };
    const earlier = level.values.get(level.key);
    level.values.set(level.key, value);
    level.key = null;
    return earlier === undefined || this.#isSame(earlier, value);
  }

  #isSame(one: Span, other: Span): boolean {
    const [first, second] = [this.#textOf(one), this.#textOf(other)];
    if (first.equals(second)) return true;
    this.#comparedBytes += first.length + second.length;
    if (this.#comparedBytes > MAX_COMPARED_BYTES) return false;
    return isDeepStrictEqual(JSON.parse(first.toString('utf8')), JSON.parse(second.toString('utf8')));
  }

  #textOf({ start, end }: Span): Buffer {
    const body = this.#body;
    while (start < end && isWhiteSpace(body[start])) start++;
    while (end > start && isWhiteSpace(body[end - 1])) end--;
    return body.subarray(start, end);
  }
}

/** The position of the quote that ends the string; `limit`, or the byte behind it, when it is not before that. */
function stringEnd(body: Buffer, from: number, limit: number): number {
  const end = Math.min(limit, body.length);
  let at = from;
  for (; at < end; at++) {
    const byte = body[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return Math.max(at, limit);
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}
