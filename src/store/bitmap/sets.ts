import { joinKey, type KeyRange, range, u32 } from '../engine/keys.js';
import { bytesKey, type Reader, type Table, type Writer, walkTable } from '../engine/tables.js';
import {
  BLOCK_BITS,
  blockOf,
  blockOfBytes,
  bytesOfBlock,
  hasBit,
  keptBlock,
  type LentBlock,
  matchBlock,
  membersOf,
  type OwnBlock,
  offsetOf,
  ownBlock,
  seqAt,
  sizeOf,
  withAll,
  withBit,
  withoutBit,
} from './bit-block.js';
import type { WordMemory, Words } from './words.js';

/**
 * Sets of sequence numbers, kept in blocks (`bit-block.ts`). A set is named by its key, the prefix of the keys of its
 * blocks; no key of a set is a prefix of another. Lent memory stays in this directory: results of these functions
 * belong to the caller.
 */

/**
 * [key of the set, block] -> the block. Values are not copied when read, since walks read thousands: each lies in the
 * buffer of lmdb-js until the next read and is used before that.
 */
const blocksTable: Table<Buffer, LentBlock> = {
  name: 'postings',
  encodeKey: bytesKey,
  encodeValue: bytesOfBlock,
  decodeValue: bytes => {
    // lmdb-js's buffer is longer than the value, whatever its `length` says.
    const { buffer, byteOffset, length } = bytes as Buffer;
    return blockOfBytes(Buffer.from(buffer, byteOffset, length));
  },
  gather: keptBlock,
};

export const setsTable: { readonly name: string } = blocksTable;

const NUMBER_BYTES = 4;

const blockKey = (set: Buffer, block: number): Buffer => joinKey(set, u32(block));

/** Adds a number to a set; false when the set has it already. */
export function addMember(writer: Writer, set: Buffer, seq: number): boolean {
  return writer.update(blocksTable, blockKey(set, blockOf(seq)), block => withBit(block, offsetOf(seq)));
}

/** Removes a number from a set; false when the set does not have it. */
export function removeMember(writer: Writer, set: Buffer, seq: number): boolean {
  return writer.update(blocksTable, blockKey(set, blockOf(seq)), block => withoutBit(block, offsetOf(seq)));
}

export function hasMember(reader: Reader, set: Buffer, seq: number): boolean {
  const block = reader.get(blocksTable, blockKey(set, blockOf(seq)));
  return block !== undefined && hasBit(block, offsetOf(seq));
}

/** More blocks than any folder has: numbers have 48 bits, but four thousand million messages fit no disk. */
const MAX_BLOCKS = 65_536;

/** Numbers of the blocks that a set has, in ascending order. */
export function blocksOfSet(reader: Reader, set: Buffer): number[] {
  return reader
    .scanKeys(blocksTable, { limit: MAX_BLOCKS, ...range(set) })
    .map(key => key.readUInt32BE(set.length));
}

/** Moves all members of one set into another. Cost: two blocks for each block of the first set. */
export function moveMembers(writer: Writer, from: Buffer, to: Buffer): void {
  for (const number of blocksOfSet(writer, from)) {
    const [fromKey, toKey] = [blockKey(from, number), blockKey(to, number)];
    const moved = writer.get(blocksTable, fromKey);
    if (moved === undefined) continue;
    const own = ownBlock(moved);
    writer.put(blocksTable, toKey, withAll(writer.get(blocksTable, toKey), own));
    writer.remove(blocksTable, fromKey);
  }
}

/** Removes blocks whose keys are in a range, `limit` at most; says how many. */
export function removeBlocks(writer: Writer, keys: KeyRange, limit: number): number {
  const found = writer.scanKeys(blocksTable, { limit, ...keys });
  for (const key of found) writer.remove(blocksTable, key);
  return found.length;
}

/** A block of some set. */
export interface SetBlock {
  /** Key of the set. */
  readonly set: Buffer;
  /** How many members it says it has. */
  readonly size: number;
  /** In ascending order. */
  readonly seqs: readonly number[];
}

/** All blocks of all sets, in the order of their keys. */
export function* walkSets(reader: Reader): Generator<SetBlock> {
  for (const { key, value } of walkTable(reader, blocksTable)) {
    const at = key.length - NUMBER_BYTES;
    const number = key.readUInt32BE(at);
    const seqs = membersOf(value).map(offset => seqAt(number, offset));
    yield { set: key.subarray(0, at), size: sizeOf(value), seqs };
  }
}

/** The members of a set as they were when the copy was made, block by block. */
export class SetCopy {
  readonly #blocks: { readonly number: number; readonly block: OwnBlock }[] = [];

  /** Costs a copy of each block. */
  constructor(reader: Reader, set: Buffer) {
    for (const number of blocksOfSet(reader, set)) {
      const block = reader.get(blocksTable, blockKey(set, number));
      if (block !== undefined) this.#blocks.push({ number, block: ownBlock(block) });
    }
  }

  /** Have all blocks been taken? */
  get isDone(): boolean {
    return this.#blocks.length === 0;
  }

  /** The members of the next block, in ascending order; none when all have been taken. */
  takeBlock(): number[] {
    const next = this.#blocks.shift();
    return next === undefined ? [] : membersOf(next.block).map(offset => seqAt(next.number, offset));
  }
}

/** Reads the blocks of a set one after the other, reusing one key buffer. */
export class BlockReader {
  readonly #key: Buffer;

  constructor(set: Buffer) {
    this.#key = blockKey(set, 0);
  }

  /** Brings a block to a place in memory; false when the set does not have it. */
  load(reader: Reader, number: number, memory: WordMemory, into: Words): boolean {
    const block = this.#get(reader, number);
    if (block !== undefined) memory.load(into, block);
    return block !== undefined;
  }

  /** The members of a block that are in `mask` too: how many, and the highest of them. */
  match(
    reader: Reader,
    number: number,
    mask: Int32Array,
    limit: number,
  ): { readonly count: number; readonly seqs: readonly number[] } {
    const block = this.#get(reader, number);
    if (block === undefined) return { count: 0, seqs: [] };
    const { count, offsets } = matchBlock(mask, block, limit);
    return { count, seqs: offsets.map(offset => number * BLOCK_BITS + offset) };
  }

  #get(reader: Reader, number: number): LentBlock | undefined {
    this.#key.writeUInt32BE(number, this.#key.length - NUMBER_BYTES);
    return reader.get(blocksTable, this.#key);
  }
}
