/**
 * A block: which of 65,408 consecutive sequence numbers belong to a set. Sets of messages are kept as such blocks, so
 * that any combination of sets is two thousand word operations a block and set, whatever the folder holds: a million
 * messages are sixteen blocks.
 *
 * A block with few members is a list of ascending offsets, two bytes each: a label of one message costs two bytes. Any
 * other is a bit map: bit n of the block is bit n & 31 of word n >> 5. The length tells which: a list is always shorter
 * than a map.
 */

/** The map and LMDB's page header fill two pages of 4 KiB exactly. */
export const BLOCK_BYTES = 8192 - 16;
export const BLOCK_WORDS = BLOCK_BYTES / 4;
export const BLOCK_BITS = BLOCK_BYTES * 8;

/** Longest list, in members: it fits a page beside others. Larger blocks are maps. */
const MAX_SPARSE = 896;

declare const lent: unique symbol;
declare const own: unique symbol;

/**
 * A stored block in memory that will be overwritten: a block from the store at its next read, one from `withBit` and
 * `withoutBit` at the next change of any block. Pass it on at once to the functions of this file or to the store;
 * `ownBlock` makes a copy to keep.
 */
export interface LentBlock {
  readonly [lent]: true;
}

/** A block in memory of its own. */
export interface OwnBlock extends LentBlock {
  readonly [own]: true;
}

export function blockOfBytes(bytes: Buffer): LentBlock {
  return bytes as unknown as LentBlock;
}

export function bytesOfBlock(block: LentBlock): Buffer {
  return block as unknown as Buffer;
}

export function ownBlock(block: LentBlock): OwnBlock {
  return owned(Buffer.from(bytesOfBlock(block)));
}

const owned = (bytes: Buffer): OwnBlock => bytes as unknown as OwnBlock;

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

/** Writes the block as a map into the words of `into`, from `start` on. */
export function loadBlock(into: Int32Array, start: number, block: LentBlock): void {
  const bytes = bytesOfBlock(block);
  if (isDense(bytes)) {
    into.set(wordsIn(bytes), start);
    return;
  }
  into.fill(0, start, start + BLOCK_WORDS);
  addOffsets(into, start, offsetsIn(bytes));
}

function addOffsets(words: Int32Array, start: number, offsets: Uint16Array): void {
  for (const offset of offsets) {
    const at = start + (offset >> 5);
    words[at] = (words[at] ?? 0) | (1 << (offset & 31));
  }
}

/** How many bits are set in the words from `start` on. */
export function countBits(words: Int32Array, start: number): number {
  let count = 0;
  for (let at = 0; at < BLOCK_WORDS; at++) count += bitsIn(words[start + at] ?? 0);
  return count;
}

/** Are more than `than` bits set? Stops counting as soon as that is known. */
function hasMoreBits(words: Int32Array, than: number): boolean {
  let count = 0;
  for (let at = 0; at < BLOCK_WORDS && count <= than; at++) count += bitsIn(words[at] ?? 0);
  return count > than;
}

function bitsIn(word: number): number {
  // Sums of two bits each, of four, of eight; then of the four bytes.
  const twos = word - ((word >>> 1) & 0x5555_5555);
  const fours = (twos & 0x3333_3333) + ((twos >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/** Offsets that are set in the words from `start` on, from the highest down or from the lowest up, at most `limit`. */
export function listBits(words: Int32Array, start: number, isDescending: boolean, limit: number): number[] {
  const offsets: number[] = [];
  for (let step = 0; step < BLOCK_WORDS && offsets.length < limit; step += 4) {
    const first = isDescending ? BLOCK_WORDS - 4 - step : step;
    const at = start + first;
    // Sets with few members are mostly zeros.
    const any = (words[at] ?? 0) | (words[at + 1] ?? 0) | (words[at + 2] ?? 0) | (words[at + 3] ?? 0);
    if (any === 0) continue;
    for (let n = 0; n < 4; n++) {
      const word = isDescending ? first + 3 - n : first + n;
      addBitsTo(offsets, words[start + word] ?? 0, word * 32, isDescending, limit);
    }
  }
  return offsets;
}

function addBitsTo(
  offsets: number[],
  word: number,
  offset: number,
  isDescending: boolean,
  limit: number,
): void {
  let bits = word;
  while (bits !== 0 && offsets.length < limit) {
    const bit = isDescending ? 31 - Math.clz32(bits) : 31 - Math.clz32(bits & -bits);
    offsets.push(offset + bit);
    bits &= ~(1 << bit);
  }
}

/** Does a block hold this offset? */
export function hasBit(block: LentBlock, offset: number): boolean {
  const bytes = bytesOfBlock(block);
  if (isDense(bytes)) return ((bytes[offset >> 3] ?? 0) & (1 << (offset & 7))) !== 0;
  return offsetsIn(bytes).includes(offset);
}

/** The members of a block that are in `mask` too, the words of a whole block: how many, and the highest of them. */
export function matchBlock(
  mask: Int32Array,
  block: LentBlock,
  limit: number,
): { readonly count: number; readonly offsets: readonly number[] } {
  const bytes = bytesOfBlock(block);
  if (isDense(bytes)) {
    const words = wordsIn(bytes);
    const both = new Int32Array(BLOCK_WORDS);
    for (let at = 0; at < BLOCK_WORDS; at++) both[at] = (mask[at] ?? 0) & (words[at] ?? 0);
    return { count: countBits(both, 0), offsets: listBits(both, 0, true, limit) };
  }
  const offsets = [...offsetsIn(bytes)].filter(offset => isSet(mask, offset));
  return { count: offsets.length, offsets: offsets.reverse().slice(0, limit) };
}

export function isSet(words: Int32Array, offset: number): boolean {
  return ((words[offset >> 5] ?? 0) & (1 << (offset & 31))) !== 0;
}

/** How many members a block has. */
export function sizeOf(block: LentBlock): number {
  const bytes = bytesOfBlock(block);
  return isDense(bytes) ? countBits(wordsIn(bytes), 0) : bytes.length / 2;
}

/** Its members, in ascending order. */
export function membersOf(block: LentBlock): number[] {
  const bytes = bytesOfBlock(block);
  return isDense(bytes) ? listBits(wordsIn(bytes), 0, false, BLOCK_BITS) : [...offsetsIn(bytes)];
}

/** The block with one member more; null when it has it already. `block` is undefined for an empty one. */
export function withBit(block: LentBlock | undefined, offset: number): LentBlock | null {
  const bytes = block === undefined ? NO_BYTES : bytesOfBlock(block);
  if (isDense(bytes)) return withMapBit(bytes, offset, true);
  const offsets = offsetsIn(bytes);
  const at = insertionPoint(offsets, offset);
  if (offsets[at] === offset) return null;
  const more = new Uint16Array(offsets.length + 1);
  more.set(offsets.subarray(0, at));
  more[at] = offset;
  more.set(offsets.subarray(at), at + 1);
  return more.length > MAX_SPARSE ? mapOf(more) : listOf(more);
}

/** The same with one member less: null when it does not have it, undefined when nothing is left of it. */
export function withoutBit(block: LentBlock | undefined, offset: number): LentBlock | null | undefined {
  if (block === undefined) return null;
  const bytes = bytesOfBlock(block);
  if (isDense(bytes)) return withoutMapBit(bytes, offset);
  const offsets = offsetsIn(bytes);
  const at = insertionPoint(offsets, offset);
  if (offsets[at] !== offset) return null;
  if (offsets.length === 1) return undefined;
  const less = new Uint16Array(offsets.length - 1);
  less.set(offsets.subarray(0, at));
  less.set(offsets.subarray(at + 1), at);
  return listOf(less);
}

/** The block with the members of both. `block` is undefined for an empty one. */
export function withAll(block: LentBlock | undefined, more: OwnBlock): OwnBlock {
  if (block === undefined) return ownBlock(more);
  const words = new Int32Array(BLOCK_WORDS);
  loadBlock(words, 0, block);
  const bytes = bytesOfBlock(more);
  if (isDense(bytes)) {
    const others = wordsIn(bytes);
    for (let at = 0; at < BLOCK_WORDS; at++) words[at] = (words[at] ?? 0) | (others[at] ?? 0);
  } else addOffsets(words, 0, offsetsIn(bytes));
  return hasMoreBits(words, MAX_SPARSE) ? owned(Buffer.from(words.buffer)) : listOfMap(words);
}

/** A copy of a changed block that outlives the next change; it reuses the memory of `before` where it fits. */
export function keptBlock(changed: LentBlock, before: LentBlock | undefined): LentBlock {
  const bytes = bytesOfBlock(changed);
  // A list is made anew by each change.
  if (!isDense(bytes)) return changed;
  if (before === undefined || !isDense(bytesOfBlock(before))) return ownBlock(changed);
  bytes.copy(bytesOfBlock(before));
  return before;
}

const listOfMap = (words: Int32Array): OwnBlock =>
  listOf(Uint16Array.from(listBits(words, 0, false, MAX_SPARSE)));

function withoutMapBit(bytes: Buffer, offset: number): LentBlock | null {
  const changed = withMapBit(bytes, offset, false);
  if (changed === null) return null;
  const words = wordsIn(bytesOfBlock(changed));
  // Half of the limit, so that a set at the limit does not change its form with every change.
  return hasMoreBits(words, MAX_SPARSE / 2) ? changed : listOfMap(words);
}

function withMapBit(bytes: Buffer, offset: number, isAdded: boolean): LentBlock | null {
  const at = offset >> 3;
  const mask = 1 << (offset & 7);
  const before = bytes[at] ?? 0;
  if (((before & mask) !== 0) === isAdded) return null;
  bytes.copy(changedMap);
  changedMap[at] = isAdded ? before | mask : before & ~mask;
  return blockOfBytes(changedMap);
}

/** Shared by all changes: a new buffer for each would cost more than the change itself. */
const changedMap = Buffer.alloc(BLOCK_BYTES);

function isDense(bytes: Buffer): boolean {
  return bytes.length === BLOCK_BYTES;
}

/** The last view that was made: reads of the store bring one block after the other into the same memory. */
let lastView: Int32Array = new Int32Array(BLOCK_WORDS);

/** A map as words, without copying where it can be. */
function wordsIn(bytes: Buffer): Int32Array {
  const { buffer, byteOffset } = bytes;
  if (lastView.buffer === buffer && lastView.byteOffset === byteOffset) return lastView;
  if (byteOffset % 4 !== 0) return new Int32Array(Uint8Array.from(bytes).buffer);
  lastView = new Int32Array(buffer, byteOffset, BLOCK_WORDS);
  return lastView;
}

/** A list as offsets, without copying where it can be. */
function offsetsIn(bytes: Buffer): Uint16Array {
  const { buffer, byteOffset, length } = bytes;
  if (byteOffset % 2 !== 0) return new Uint16Array(Uint8Array.from(bytes).buffer);
  return new Uint16Array(buffer, byteOffset, length / 2);
}

const NO_BYTES = Buffer.alloc(0);

function listOf(offsets: Uint16Array): OwnBlock {
  return owned(Buffer.from(offsets.buffer, offsets.byteOffset, offsets.byteLength));
}

function mapOf(offsets: Uint16Array): OwnBlock {
  const words = new Int32Array(BLOCK_WORDS);
  addOffsets(words, 0, offsets);
  return owned(Buffer.from(words.buffer));
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
