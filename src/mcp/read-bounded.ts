import { randomBytes } from 'node:crypto';
import { inSlices, inTurns, pauseIfLong } from '../lib/slices.js';
import type { ByteStream } from '../usecases/shared/contents.js';
import type { Hand } from '../usecases/shared/in-hand.js';
import { isObject, type JsonObject } from './values.js';

/** How much of an answer is read, in bytes of its JSON. */
export interface Bounds {
  /** The most of one string. */
  readonly perText: number;
  /** The most of all strings together; each has `LEAST_TEXT` even so. */
  readonly texts: number;
  /** The most of the base64 of all files together. */
  readonly files: number;
}

/** What is kept beyond the bounds is counted in steps of so many bytes. */
const WORK_STEP = 256 * 1024;

/** A string is not cut to less. */
const LEAST_TEXT = 4_096;

/** The member that holds the base64 of a file (`StoredAttachment`). */
const FILE_MEMBER = 'content';

/** An answer whose long strings were cut. */
export class Bounded {
  readonly value: JsonObject;
  readonly #cut: ReadonlySet<string>;

  /** @param cut what is left of strings that were cut */
  constructor(value: JsonObject, cut: ReadonlySet<string> = new Set()) {
    this.value = value;
    this.#cut = cut;
  }

  isCut(text: unknown): boolean {
    return typeof text === 'string' && this.#cut.has(text);
  }
}

/**
 * Reads the JSON of an answer, which may be much longer than a model can use, and cuts its long strings on the way: what
 * is held in memory and parsed at once is bounded, whatever strangers have sent.
 */
export async function readBounded(
  { size, bytes }: ByteStream,
  bounds: Bounds,
  hand: Hand | null,
): Promise<Bounded> {
  let taken = Math.min(size, bounds.texts + bounds.files);
  await hand?.takeWork(taken);
  const mark = randomBytes(16).toString('hex');
  const cutter = new StringCutter(bounds, Buffer.from(mark));
  if (Array.isArray(bytes)) for (const part of bytes) cutter.add(part);
  else {
    for await (const part of inTurns(bytes as AsyncIterable<Uint8Array>)) {
      cutter.add(part);
      // Many short strings, none of which is cut.
      if (cutter.kept <= taken) continue;
      await hand?.takeWork(WORK_STEP);
      taken += WORK_STEP;
    }
  }
  const json = cutter.take();
  await pauseIfLong(json.length);
  const value = JSON.parse(json.toString('utf8')) as JsonObject;
  await pauseIfLong(json.length);
  const cut = new Set<string>();
  if (!cutter.hasCut) return new Bounded(value, cut);
  return new Bounded((await inSlices(withoutMark(value, mark, cut))) as JsonObject, cut);
}

/** Takes the mark away from strings that were cut, and notes what is left of them; null where that is nothing. */
function* withoutMark(value: unknown, mark: string, cut: Set<string>): Generator<void, unknown> {
  if (typeof value === 'string') {
    if (!value.endsWith(mark)) return value;
    const left = value.slice(0, -mark.length).toWellFormed();
    if (left === '') return null;
    cut.add(left);
    return left;
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(yield* withoutMark(item, mark, cut));
    return items;
  }
  if (!isObject(value)) return value;
  const members: [string, unknown][] = [];
  for (const [name, one] of Object.entries(value)) members.push([name, yield* withoutMark(one, mark, cut)]);
  yield;
  return Object.fromEntries(members);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/**
 * Copies JSON without white space between its tokens, as `JSON.stringify` writes it, and cuts strings that are too long
 * where a character begins. Half a surrogate pair may be left of one that is written as two escapes.
 */
class StringCutter {
  readonly #bounds: Bounds;
  readonly #mark: Buffer;
  readonly #out: Uint8Array[] = [];
  #texts: number;
  #files: number;
  #isInString = false;
  /** Within an escape: 1 behind the backslash, then how many hexadecimal digits are left, plus 1. */
  #escape = 0;
  /** Bytes of the string so far. */
  #length = 0;
  #allowed = 0;
  #isCutting = false;
  /** The beginning of the string, or of the one before. */
  #head = '';
  /** What stands between the string before and this one, its beginning. */
  #gap = '';
  #isFile = false;

  hasCut = false;
  /** Bytes so far. */
  kept = 0;

  /** @param mark stands where a string was cut: nobody outside can know it */
  constructor(bounds: Bounds, mark: Buffer) {
    this.#bounds = bounds;
    this.#mark = mark;
    this.#texts = bounds.texts;
    this.#files = bounds.files;
  }

  add(part: Uint8Array): void {
    for (let at = 0; at < part.length; )
      at = this.#isInString ? this.#inString(part, at) : this.#outside(part, at);
  }

  take(): Buffer {
    return Buffer.concat(this.#out);
  }

  /** Copies up to the quote that begins a string, and returns where it goes on. */
  #outside(part: Uint8Array, from: number): number {
    const quote = part.indexOf(QUOTE, from);
    const end = quote < 0 ? part.length : quote;
    if (this.#gap.length < 2)
      this.#gap += String.fromCharCode(...part.subarray(from, Math.min(end, from + 2)));
    if (quote >= 0) this.#begin();
    const next = quote < 0 ? end : quote + 1;
    this.#out.push(part.subarray(from, next));
    this.kept += next - from;
    return next;
  }

  #begin(): void {
    // The name of a member stands before its value, with a colon between them.
    this.#isFile = this.#gap === ':' && this.#head === FILE_MEMBER;
    this.#allowed = this.#isFile
      ? this.#files
      : Math.min(this.#bounds.perText, Math.max(this.#texts, LEAST_TEXT));
    this.#isInString = true;
    this.#isCutting = false;
    this.#length = 0;
    this.#head = '';
  }

  #inString(part: Uint8Array, from: number): number {
    let at = from;
    for (; at < part.length; at++) {
      const byte = part[at] ?? 0;
      if (this.#escape > 0) {
        if (this.#escape === 1) this.#escape = byte === LETTER_U ? 5 : 0;
        else this.#escape = this.#escape === 2 ? 0 : this.#escape - 1;
      } else if (byte === QUOTE) {
        this.#copy(part, from, at);
        this.#end(part.subarray(at, at + 1));
        return at + 1;
      } else {
        const isStart = (byte & 0xc0) !== 0x80;
        if (isStart && !this.#isCutting && this.#length >= this.#allowed) {
          this.#copy(part, from, at);
          this.#isCutting = true;
        }
        if (byte === BACKSLASH) this.#escape = 1;
      }
      this.#length++;
    }
    this.#copy(part, from, at);
    return at;
  }

  #copy(part: Uint8Array, from: number, to: number): void {
    if (this.#isCutting || to <= from) return;
    this.#out.push(part.subarray(from, to));
    this.kept += to - from;
    // One character more than the name, so that a longer one is not taken for it.
    const missing = FILE_MEMBER.length + 1 - this.#head.length;
    if (missing > 0) this.#head += String.fromCharCode(...part.subarray(from, Math.min(to, from + missing)));
  }

  #end(quote: Uint8Array): void {
    if (this.#isCutting) {
      this.#out.push(this.#mark);
      this.hasCut = true;
    }
    this.#out.push(quote);
    const kept = Math.min(this.#length, this.#allowed);
    if (this.#isFile) this.#files -= kept;
    else this.#texts -= kept;
    this.#gap = '';
    this.#isInString = false;
  }
}
