import { startWordKernel, type WordKernel } from './word-kernel.js';

/**
 * A block: which of 65,408 consecutive sequence numbers belong to a set. Sets of messages are kept as such
 * blocks, so that any combination of sets is two thousand word operations a block and set, whatever the
 * mailbox holds: a million messages are sixteen blocks.
 *
 * A block with few members is a list of ascending offsets, two bytes each: a label of one message costs two
 * bytes. Any other is a bit map. The length tells which: a list never is as long as a map.
 */

/** The map and LMDB's page header fill two pages of 4 KiB exactly. */
const DENSE_BYTES = 8192 - 16;
export const BLOCK_BITS = DENSE_BYTES * 8;
const WORDS = BLOCK_BITS / 32;

/** A list up to here lies in a page together with its key, beside others; beyond, the map is kept. */
const MAX_SPARSE = 896;

/** 2,044 words of 32 bits; bit n of the block is bit n & 31 of word n >> 5. */
export type Words = Uint32Array;

export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_BITS);
}

export function offsetOf(seq: number): number {
  return seq % BLOCK_BITS;
}

/** The sequence number at an offset of a block. */
export function seqAt(block: number, offset: number): number {
  return block * BLOCK_BITS + offset;
}

export function emptyWords(): Words {
  return new Uint32Array(WORDS);
}

/** What the cache of blocks and a walk over them want: at most 30 MiB. */
const FAST_WORDS = 3840;

/** Started for the first that want fast words: most commands never do. */
let kernel: WordKernel | null | undefined;

/** Words that are combined ten times faster than others, as long as there are any: who has them keeps them. */
export function fastWords(): Words {
  if (kernel === undefined) kernel = startWordKernel(DENSE_BYTES, FAST_WORDS);
  return kernel?.take() ?? emptyWords();
}

export function fillAll(into: Words): void {
  into.fill(0xffff_ffff);
}

/** Makes `into` what the stored block holds. */
export function loadBlock(into: Words, bytes: Buffer): void {
  if (isDense(bytes)) {
    into.set(wordsIn(bytes));
    return;
  }
  into.fill(0);
  addBlock(into, bytes);
}

// Four words a step: two thirds of the time of one. A block has a multiple of four.

/** Keeps in `into` what is in `words` too; false when nothing is left. */
export function keepWords(into: Words, words: Words): boolean {
  if (kernel?.holds(into) && kernel.holds(words)) return kernel.keep(into, words);
  let left = 0;
  for (let at = 0; at < WORDS; at += 4) {
    const first = (into[at] ?? 0) & (words[at] ?? 0);
    const second = (into[at + 1] ?? 0) & (words[at + 1] ?? 0);
    const third = (into[at + 2] ?? 0) & (words[at + 2] ?? 0);
    const fourth = (into[at + 3] ?? 0) & (words[at + 3] ?? 0);
    into[at] = first;
    into[at + 1] = second;
    into[at + 2] = third;
    into[at + 3] = fourth;
    left |= first | second | third | fourth;
  }
  return left !== 0;
}

/** Takes out of `into` what is in `words`; false when nothing is left. */
export function dropWords(into: Words, words: Words): boolean {
  if (kernel?.holds(into) && kernel.holds(words)) return kernel.drop(into, words);
  let left = 0;
  for (let at = 0; at < WORDS; at += 4) {
    const first = (into[at] ?? 0) & ~(words[at] ?? 0);
    const second = (into[at + 1] ?? 0) & ~(words[at + 1] ?? 0);
    const third = (into[at + 2] ?? 0) & ~(words[at + 2] ?? 0);
    const fourth = (into[at + 3] ?? 0) & ~(words[at + 3] ?? 0);
    into[at] = first;
    into[at + 1] = second;
    into[at + 2] = third;
    into[at + 3] = fourth;
    left |= first | second | third | fourth;
  }
  return left !== 0;
}

/** Keeps in `into` only offsets from `first` up to but not including `end`. */
export function clip(into: Words, first: number, end: number): void {
  if (first > 0) {
    into.fill(0, 0, Math.min(first >> 5, WORDS));
    if (first < BLOCK_BITS) into[first >> 5] = (into[first >> 5] ?? 0) & (~0 << (first & 31));
  }
  if (end < BLOCK_BITS) {
    const last = Math.max(end, 0);
    into[last >> 5] = (into[last >> 5] ?? 0) & ~(~0 << (last & 31));
    into.fill(0, (last >> 5) + 1);
  }
}

export function popCount(words: Words): number {
  if (kernel?.holds(words)) return kernel.count(words);
  let count = 0;
  for (let at = 0; at < WORDS; at++) {
    let bits = words[at] ?? 0;
    bits -= (bits >>> 1) & 0x5555_5555;
    bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
    count += Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
  }
  return count;
}

/** Offsets that are set, from the highest down or from the lowest up, at most `limit`. */
export function offsetsOf(words: Words, isDescending: boolean, limit: number): number[] {
  const offsets: number[] = [];
  for (let step = 0; step < WORDS && offsets.length < limit; step += 4) {
    const first = isDescending ? WORDS - 4 - step : step;
    // Sets with few members are mostly zeros.
    const any =
      (words[first] ?? 0) | (words[first + 1] ?? 0) | (words[first + 2] ?? 0) | (words[first + 3] ?? 0);
    if (any === 0) continue;
    for (let n = 0; n < 4; n++) {
      addOffsets(offsets, words, isDescending ? first + 3 - n : first + n, isDescending, limit);
    }
  }
  return offsets;
}

function addOffsets(
  offsets: number[],
  words: Words,
  word: number,
  isDescending: boolean,
  limit: number,
): void {
  let bits = words[word] ?? 0;
  while (bits !== 0 && offsets.length < limit) {
    const bit = isDescending ? 31 - Math.clz32(bits) : 31 - Math.clz32(bits & -bits);
    offsets.push(word * 32 + bit);
    bits &= ~(1 << bit);
  }
}

/** Does a stored block hold this offset? */
export function hasBit(bytes: Buffer, offset: number): boolean {
  if (isDense(bytes)) return ((bytes[offset >> 3] ?? 0) & (1 << (offset & 7))) !== 0;
  return offsetsIn(bytes).includes(offset);
}

/** The members of a stored block that are in `words` too: how many, and the highest of them. */
export function matchBlock(
  words: Words,
  bytes: Buffer,
  limit: number,
): { readonly count: number; readonly offsets: readonly number[] } {
  if (isDense(bytes)) {
    const matching = words.slice();
    if (!keepWords(matching, wordsIn(bytes))) return { count: 0, offsets: [] };
    return { count: popCount(matching), offsets: offsetsOf(matching, true, limit) };
  }
  const offsets = [...offsetsIn(bytes)].filter(
    offset => ((words[offset >> 5] ?? 0) & (1 << (offset & 31))) !== 0,
  );
  return { count: offsets.length, offsets: offsets.reverse().slice(0, limit) };
}

/** How many members a stored block has. */
export function sizeOf(bytes: Buffer): number {
  return isDense(bytes) ? popCount(wordsIn(bytes)) : bytes.length / 2;
}

/**
 * The block with one member more; null when it has it already. `bytes` is undefined for an empty block. The
 * answer is good until the next change of any block.
 */
export function withBit(bytes: Buffer | undefined, offset: number): Buffer | null {
  if (bytes !== undefined && isDense(bytes)) return withMapBit(bytes, offset, true);
  const offsets = bytes === undefined ? NO_OFFSETS : offsetsIn(bytes);
  const at = insertionPoint(offsets, offset);
  if (offsets[at] === offset) return null;
  const more = new Uint16Array(offsets.length + 1);
  more.set(offsets.subarray(0, at));
  more[at] = offset;
  more.set(offsets.subarray(at), at + 1);
  return more.length > MAX_SPARSE ? mapOf(more) : bytesOf(more);
}

/** The same with one member less: null when it does not have it, undefined when nothing is left of it. */
export function withoutBit(bytes: Buffer | undefined, offset: number): Buffer | null | undefined {
  if (bytes === undefined) return null;
  if (isDense(bytes)) return withoutMapBit(bytes, offset);
  const offsets = offsetsIn(bytes);
  const at = insertionPoint(offsets, offset);
  if (offsets[at] !== offset) return null;
  if (offsets.length === 1) return undefined;
  const less = new Uint16Array(offsets.length - 1);
  less.set(offsets.subarray(0, at));
  less.set(offsets.subarray(at + 1), at);
  return bytesOf(less);
}

/** The block with the members of both. `bytes` is undefined for an empty block; the answer is a block of its own. */
export function withAll(bytes: Buffer | undefined, more: Buffer): Buffer {
  if (bytes === undefined) return Buffer.from(more);
  const words = emptyWords();
  loadBlock(words, bytes);
  addBlock(words, more);
  if (popCount(words) > MAX_SPARSE) return Buffer.from(words.buffer);
  return bytesOf(Uint16Array.from(offsetsOf(words, false, MAX_SPARSE)));
}

/** Adds to `into` what is in the stored block (set union). */
function addBlock(into: Words, bytes: Buffer): void {
  if (isDense(bytes)) {
    const words = wordsIn(bytes);
    for (let at = 0; at < WORDS; at++) into[at] = (into[at] ?? 0) | (words[at] ?? 0);
    return;
  }
  for (const offset of offsetsIn(bytes)) into[offset >> 5] = (into[offset >> 5] ?? 0) | (1 << (offset & 31));
}

function withoutMapBit(bytes: Buffer, offset: number): Buffer | null {
  const changed = withMapBit(bytes, offset, false);
  if (changed === null) return null;
  const words = wordsIn(changed);
  // Half of the bound, so that a set at the edge does not change its form with every change.
  if (popCount(words) > MAX_SPARSE / 2) return changed;
  return bytesOf(Uint16Array.from(offsetsOf(words, false, MAX_SPARSE)));
}

function withMapBit(bytes: Buffer, offset: number, isSet: boolean): Buffer | null {
  const at = offset >> 3;
  const mask = 1 << (offset & 7);
  const before = bytes[at] ?? 0;
  if (((before & mask) !== 0) === isSet) return null;
  bytes.copy(changedMap);
  changedMap[at] = isSet ? before | mask : before & ~mask;
  return changedMap;
}

/** One for all changes: a new one each time would cost more than everything else that a change does. */
const changedMap = Buffer.alloc(DENSE_BYTES);

/** A changed block, to be kept beyond the next change; in the memory of the one kept before, where it fits. */
export function keptBlock(changed: Buffer, before: Buffer | undefined): Buffer {
  if (!isDense(changed)) return changed;
  if (before === undefined || !isDense(before)) return Buffer.from(changed);
  changed.copy(before);
  return before;
}

function isDense(bytes: Buffer): boolean {
  return bytes.length === DENSE_BYTES;
}

/** The last view that was made: reads of the store bring one block after the other into the same memory. */
let lastView: Words = emptyWords();

/** A map as words, without copying where it can be. */
function wordsIn(bytes: Buffer): Words {
  const { buffer, byteOffset } = bytes;
  if (lastView.buffer === buffer && lastView.byteOffset === byteOffset) return lastView;
  if (byteOffset % 4 !== 0) return new Uint32Array(Uint8Array.from(bytes).buffer);
  lastView = new Uint32Array(buffer, byteOffset, WORDS);
  return lastView;
}

/** A list as offsets, without copying where it can be. */
function offsetsIn(bytes: Buffer): Uint16Array {
  const { buffer, byteOffset, length } = bytes;
  if (byteOffset % 2 !== 0) return new Uint16Array(Uint8Array.from(bytes).buffer);
  return new Uint16Array(buffer, byteOffset, length / 2);
}

const NO_OFFSETS = new Uint16Array(0);

function bytesOf(offsets: Uint16Array): Buffer {
  return Buffer.from(offsets.buffer, offsets.byteOffset, offsets.byteLength);
}

function mapOf(offsets: Uint16Array): Buffer {
  const words = emptyWords();
  loadBlock(words, bytesOf(offsets));
  return Buffer.from(words.buffer);
}

/** First index whose offset is not less than `offset`. */
function insertionPoint(offsets: Uint16Array, offset: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
