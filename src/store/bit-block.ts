/**
 * A block: which of 8,192 consecutive sequence numbers belong to a set. Sets of messages are kept as such
 * blocks, so that any combination of sets is a few hundred word operations a block, whatever the mailbox
 * holds. A block with few members is stored as a list of offsets: a label of one message costs three bytes
 * and not a kilobyte.
 */

export const BLOCK_BITS = 8192;
const WORDS = BLOCK_BITS / 32;
const DENSE_BYTES = BLOCK_BITS / 8;

const SPARSE = 1;
const DENSE = 2;
/** Members up to which offsets of two bytes are smaller than half the bit map; beyond, the map is kept. */
const MAX_SPARSE = 256;

/** 256 words of 32 bits; bit n of the block is bit n & 31 of word n >> 5. */
export type Words = Uint32Array;

export function blockOf(seq: number): number {
  // Not >>: sequence numbers have up to 48 bits.
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

/** Adds a stored block to `into` (set union). */
export function orBlock(into: Words, bytes: Buffer): void {
  if (bytes[0] === SPARSE) {
    for (let at = 1; at < bytes.length; at += 2) setWordBit(into, bytes.readUInt16LE(at));
  } else {
    for (let word = 0; word < WORDS; word++)
      into[word] = (into[word] ?? 0) | bytes.readUInt32LE(1 + word * 4);
  }
}

/** Keeps in `into` what is in the stored block too (set intersection). */
export function andBlock(into: Words, bytes: Buffer): void {
  if (bytes[0] === SPARSE) {
    const both = emptyWords();
    orBlock(both, bytes);
    for (let word = 0; word < WORDS; word++) into[word] = (into[word] ?? 0) & (both[word] ?? 0);
  } else {
    for (let word = 0; word < WORDS; word++)
      into[word] = (into[word] ?? 0) & bytes.readUInt32LE(1 + word * 4);
  }
}

/** Takes the stored block out of `into` (set difference). */
export function subtractBlock(into: Words, bytes: Buffer): void {
  if (bytes[0] === SPARSE) {
    for (let at = 1; at < bytes.length; at += 2) {
      const offset = bytes.readUInt16LE(at);
      into[offset >> 5] = (into[offset >> 5] ?? 0) & ~(1 << (offset & 31));
    }
  } else {
    for (let word = 0; word < WORDS; word++)
      into[word] = (into[word] ?? 0) & ~bytes.readUInt32LE(1 + word * 4);
  }
}

/** Keeps in `into` what the words have too. */
export function andWords(into: Words, words: Words): void {
  for (let word = 0; word < WORDS; word++) into[word] = (into[word] ?? 0) & (words[word] ?? 0);
}

/** Keeps in `into` only offsets from `first` up to but not including `end`. */
export function clip(into: Words, first: number, end: number): void {
  if (first <= 0 && end >= BLOCK_BITS) return;
  for (let word = 0; word < WORDS; word++) {
    const low = word * 32;
    if (low + 32 <= first || low >= end) into[word] = 0;
    else {
      if (first > low) into[word] = (into[word] ?? 0) & (~0 << (first - low));
      if (end < low + 32) into[word] = (into[word] ?? 0) & ~(~0 << (end - low));
    }
  }
}

export function fillAll(into: Words): void {
  into.fill(0xffff_ffff);
}

export function popCount(words: Words): number {
  let count = 0;
  for (let word = 0; word < WORDS; word++) {
    let bits = words[word] ?? 0;
    bits -= (bits >>> 1) & 0x5555_5555;
    bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
    count += (((bits + (bits >>> 4)) & 0x0f0f_0f0f) * 0x0101_0101) >>> 24;
  }
  return count;
}

/** Offsets that are set, from the highest down or from the lowest up, at most `limit`. */
export function offsetsOf(words: Words, isDescending: boolean, limit: number): number[] {
  const offsets: number[] = [];
  for (let step = 0; step < WORDS && offsets.length < limit; step++) {
    const word = isDescending ? WORDS - 1 - step : step;
    let bits = words[word] ?? 0;
    while (bits !== 0 && offsets.length < limit) {
      const bit = isDescending ? 31 - Math.clz32(bits) : 31 - Math.clz32(bits & -bits);
      offsets.push(word * 32 + bit);
      bits &= ~(1 << bit);
    }
  }
  return offsets;
}

/** The block with one member more; null when it has it already. `bytes` is undefined for an empty block. */
export function withBit(bytes: Buffer | undefined, offset: number): Buffer | null {
  if (bytes === undefined) return encodeSparse([offset]);
  if (bytes[0] === DENSE) return withDenseBit(bytes, offset, true);
  const offsets = decodeSparse(bytes);
  const at = insertionPoint(offsets, offset);
  if (offsets[at] === offset) return null;
  offsets.splice(at, 0, offset);
  return offsets.length > MAX_SPARSE ? encodeDense(offsets) : encodeSparse(offsets);
}

/** The block with one member less: null when it does not have it, undefined when nothing is left of it. */
export function withoutBit(bytes: Buffer | undefined, offset: number): Buffer | null | undefined {
  if (bytes === undefined) return null;
  if (bytes[0] === DENSE) return withoutDenseBit(bytes, offset);
  const offsets = decodeSparse(bytes);
  const at = insertionPoint(offsets, offset);
  if (offsets[at] !== offset) return null;
  offsets.splice(at, 1);
  return offsets.length === 0 ? undefined : encodeSparse(offsets);
}

function withoutDenseBit(bytes: Buffer, offset: number): Buffer | null {
  const changed = withDenseBit(bytes, offset, false);
  if (changed === null) return null;
  const words = emptyWords();
  orBlock(words, changed);
  // Half of the bound, so that a set at the edge does not change its form with every change.
  return popCount(words) <= MAX_SPARSE / 2 ? encodeSparse(offsetsOf(words, false, MAX_SPARSE)) : changed;
}

function withDenseBit(bytes: Buffer, offset: number, isSet: boolean): Buffer | null {
  const at = 1 + (offset >> 3);
  const mask = 1 << (offset & 7);
  const before = bytes[at] ?? 0;
  if (((before & mask) !== 0) === isSet) return null;
  const copy = Buffer.from(bytes);
  copy[at] = isSet ? before | mask : before & ~mask;
  return copy;
}

function setWordBit(words: Words, offset: number): void {
  words[offset >> 5] = (words[offset >> 5] ?? 0) | (1 << (offset & 31));
}

function encodeSparse(offsets: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(1 + offsets.length * 2);
  bytes[0] = SPARSE;
  for (const [index, offset] of offsets.entries()) bytes.writeUInt16LE(offset, 1 + index * 2);
  return bytes;
}

function decodeSparse(bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = 1; at < bytes.length; at += 2) offsets.push(bytes.readUInt16LE(at));
  return offsets;
}

function encodeDense(offsets: readonly number[]): Buffer {
  const bytes = Buffer.alloc(1 + DENSE_BYTES);
  bytes[0] = DENSE;
  for (const offset of offsets)
    bytes[1 + (offset >> 3)] = (bytes[1 + (offset >> 3)] ?? 0) | (1 << (offset & 7));
  return bytes;
}

/** First index whose offset is not less than `offset`. */
function insertionPoint(offsets: readonly number[], offset: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
