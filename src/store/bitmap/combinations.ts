import type { Reader } from '../engine/tables.js';
import { BLOCK_BITS, blockOf, isSet, offsetOf, seqAt } from './bit-block.js';
import { BlockCache, type CachedSet } from './block-cache.js';
import type { NumberSet } from './number-set.js';
import { BlockReader } from './sets.js';
import type { WordMemory, Words } from './words.js';

/**
 * Numbers that are in every set of `all`, in at least one of `any` (when it is not empty), in none of `none`, from
 * `from` up to but not including `to`. Sets are named by their keys. For speed the most selective come first: the
 * smallest of `all`, the largest of `any` and `none`. With neither `all` nor `any`, every number that is not in `none`
 * matches.
 */
export interface Combination {
  readonly all: readonly Buffer[];
  readonly any: readonly Buffer[];
  readonly none: readonly Buffer[];
  readonly from: number;
  readonly to: number;
  /** Numbers between these that do not match. */
  readonly gaps?: readonly { readonly from: number; readonly to: number }[];
  /** Numbers that match only when they are in this set, too. */
  readonly within?: NumberSet;
  /** Grows with every change of any of the sets. */
  readonly version: number;
}

export interface Selected {
  /** Numbers in the order of the walk. */
  readonly seqs: readonly number[];
  /** Where a walk stopped because it reached its limit of blocks: go on from there. Null when it is complete. */
  readonly stoppedAt: number | null;
}

/** Blocks that one walk reads at most, which takes some milliseconds: one set of a folder of 130 million messages. */
const MAX_LOOKS = 2_000;

/**
 * The first `limit` numbers of a combination, from the highest or the lowest on. Cost: one block of each set for each
 * 65,408 numbers, up to where the page is full.
 * @param blocks the blocks to read, in ascending order, when the caller knows them
 */
export function selectMembers(
  reader: Reader,
  combination: Combination,
  page: { readonly isDescending: boolean; readonly limit: number },
  blocks?: readonly number[],
): Selected {
  const walk = new Walk(reader, combination);
  const seqs: number[] = [];
  for (const block of blocksOf(combination, page.isDescending, blocks)) {
    if (walk.looks >= MAX_LOOKS) {
      return { seqs, stoppedAt: page.isDescending ? seqAt(block, BLOCK_BITS) : seqAt(block, 0) };
    }
    for (const offset of walk.list(block, page.isDescending, page.limit - seqs.length)) {
      seqs.push(seqAt(block, offset));
    }
    if (seqs.length >= page.limit) break;
  }
  return { seqs, stoppedAt: null };
}

/** How many numbers of a combination one walk has found, and where the next begins; null at the end. */
export interface Counted {
  readonly count: number;
  readonly stoppedAt: number | null;
}

/** Counts a combination, from the lowest number on, by population counts of its blocks. */
export function countMembers(reader: Reader, combination: Combination): Counted {
  const walk = new Walk(reader, combination);
  let count = 0;
  for (const block of blocksOf(combination, false)) {
    if (walk.looks >= MAX_LOOKS) return { count, stoppedAt: seqAt(block, 0) };
    count += walk.count(block);
  }
  return { count, stoppedAt: null };
}

/** Numbers of the blocks that a combination reaches, in the order of the walk. */
function* blocksOf(
  { from, to }: Combination,
  isDescending: boolean,
  known?: readonly number[],
): Generator<number> {
  if (to <= from) return;
  const first = blockOf(from);
  const last = blockOf(to - 1);
  if (known !== undefined) {
    const reached = known.filter(block => block >= first && block <= last);
    yield* isDescending ? reached.reverse() : reached;
  } else if (isDescending) for (let block = last; block >= first; block--) yield block;
  else for (let block = first; block <= last; block++) yield block;
}

/** Tests numbers against a combination, in any order; each block is combined once. Valid as long as the reader. */
export class CombinationMask {
  readonly #reader: Reader;
  readonly #combination: Combination;
  readonly #blocks = new Map<number, Int32Array | null>();

  constructor(reader: Reader, combination: Combination) {
    this.#reader = reader;
    this.#combination = combination;
  }

  has(seq: number): boolean {
    const words = this.#wordsOf(blockOf(seq));
    return words !== null && isSet(words, offsetOf(seq));
  }

  /** Members of a block of a set that are in the combination: how many, and the highest of them. */
  match(
    set: Buffer,
    block: number,
    limit: number,
  ): { readonly count: number; readonly seqs: readonly number[] } {
    const words = this.#wordsOf(block);
    return words === null
      ? { count: 0, seqs: [] }
      : new BlockReader(set).match(this.#reader, block, words, limit);
  }

  /** Other walks may run in between, so each block is a walk of its own and its result is copied. */
  #wordsOf(block: number): Int32Array | null {
    let words = this.#blocks.get(block);
    if (words === undefined) {
      words = new Walk(this.#reader, this.#combination).copy(block);
      this.#blocks.set(block, words);
    }
    return words;
  }
}

/** Combines one block after the other in the same scratch memory; results are copies that the caller may keep. */
class Walk {
  readonly #reader: Reader;
  readonly #combination: Combination;
  readonly #memory: WordMemory;
  readonly #all: readonly CachedSet[];
  readonly #any: readonly CachedSet[];
  readonly #none: readonly CachedSet[];
  /** Blocks looked at so far. */
  looks = 0;

  constructor(reader: Reader, combination: Combination) {
    const { all, any, none } = combination;
    const cache = cacheOf(reader);
    const sets = cache.begin([...all, ...any, ...none]);
    this.#reader = reader;
    this.#combination = combination;
    this.#memory = cache.memory;
    this.#all = sets.slice(0, all.length);
    this.#any = sets.slice(all.length, all.length + any.length);
    this.#none = sets.slice(all.length + any.length);
  }

  count(block: number): number {
    return this.#combine(block) ? this.#memory.count(this.#memory.result) : 0;
  }

  /** Offsets in the block, from the highest or the lowest on, at most `limit`. */
  list(block: number, isDescending: boolean, limit: number): readonly number[] {
    return this.#combine(block) ? this.#memory.list(this.#memory.result, isDescending, limit) : [];
  }

  /** The words of the block; null when it has nothing. */
  copy(block: number): Int32Array | null {
    return this.#combine(block) ? this.#memory.copyOf(this.#memory.result) : null;
  }

  /** Makes the result of one block; false when it has nothing. */
  #combine(block: number): boolean {
    const memory = this.#memory;
    const { from, to, gaps = [], within } = this.#combination;
    const found = within?.wordsOf(block);
    if (within !== undefined && found === undefined) return false;
    if (!this.#loadAll(block)) return false;
    if (found !== undefined) {
      memory.write(memory.passing, found);
      if (!memory.keep(memory.result, memory.passing)) return false;
    }
    const first = seqAt(block, 0);
    memory.clip(memory.result, from - first, to - first);
    for (const gap of gaps) memory.cut(memory.result, gap.from - first, gap.to - first);
    for (const set of this.#none) {
      const words = this.#look(set, block);
      if (words !== null && !memory.drop(memory.result, words)) return false;
    }
    return this.#any.length === 0 || this.#keepAny(block);
  }

  #loadAll(block: number): boolean {
    const memory = this.#memory;
    const [first, ...others] = this.#all;
    if (first === undefined) {
      memory.fill(memory.result);
      return true;
    }
    const words = this.#look(first, block);
    if (words === null) return false;
    memory.copy(memory.result, words);
    for (const set of others) {
      const other = this.#look(set, block);
      if (other === null || !memory.keep(memory.result, other)) return false;
    }
    return true;
  }

  /** Keeps what is in a set of `any`. Works on the complement, what is in none of them, which is often empty soon. */
  #keepAny(block: number): boolean {
    const memory = this.#memory;
    let isEmpty = true;
    for (const set of this.#any) {
      const words = this.#look(set, block);
      if (words === null) continue;
      if (isEmpty) memory.copy(memory.missed, memory.result);
      isEmpty = false;
      if (!memory.drop(memory.missed, words)) return true;
    }
    return !isEmpty && memory.drop(memory.result, memory.missed);
  }

  #look(set: CachedSet, block: number): Words | null {
    this.looks += 1;
    return set.get(this.#reader, block, this.#combination.version);
  }
}

/**
 * Blocks kept between walks, 14 MiB; one walk may add what it reads. Enough for a filter of 100 labels on a million
 * messages.
 */
const CACHED_BLOCKS = 1750;

/** Readers last as long as their store. */
const caches = new WeakMap<Reader, BlockCache>();
/** The cache for units of work: nothing is kept in it between walks, because a unit may be undone. */
let unitCache: BlockCache | undefined;

function cacheOf(reader: Reader): BlockCache {
  if (reader.isUnit) {
    unitCache ??= new BlockCache(0);
    return unitCache;
  }
  let cache = caches.get(reader);
  if (cache === undefined) {
    cache = new BlockCache(CACHED_BLOCKS);
    caches.set(reader, cache);
  }
  return cache;
}
