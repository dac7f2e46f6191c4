import type { Reader } from '../engine/tables.js';
import { BlockReader } from './sets.js';
import { WordMemory, type Words } from './words.js';

interface KnownBlock {
  /** Version of its folder when the block was last read, and when what is kept of it was. */
  readAt: number;
  keptAt: number;
  hasMembers: boolean;
  /** Null while there was nothing to keep, or no room. */
  words: Words | null;
}

/** For blocks of all caches: 1,750 that are kept, 2,000 that one walk may add, and some more; 30 MiB. */
const PLACES = 3840;

/** Made for the first that combines sets: most commands never do. */
let shared: WordMemory | undefined;

/**
 * Blocks of sets as words, for walks that combine them. They are kept for as long as their folder stays as
 * it is: its version, which each walk reads afresh, is counted up in every unit that changes one of its sets,
 * whatever process it is of. Agents look at a folder many times before it changes. What is looked at once
 * is not kept: that would take as long as the look.
 */
export class BlockCache {
  readonly memory: WordMemory;
  readonly #limit: number;
  readonly #sets = new Map<string, CachedSet>();
  /** Those that blocks have, then those that are free. */
  readonly #words: Words[] = [];
  #used = 0;

  /** @param limit with more blocks than this, nothing is kept for the next walk */
  constructor(limit: number) {
    shared ??= new WordMemory(PLACES);
    this.memory = shared;
    this.#limit = limit;
  }

  /** The sets of a walk, in the order of their keys. What walks before had is theirs no more. */
  begin(sets: readonly Buffer[]): CachedSet[] {
    if (this.#used >= this.#limit || this.#sets.size >= this.#limit) {
      this.#sets.clear();
      this.#used = 0;
    }
    return sets.map(set => this.#setOf(set));
  }

  #setOf(key: Buffer): CachedSet {
    const name = key.toString('latin1');
    const known = this.#sets.get(name);
    if (known !== undefined) return known;
    const set = new CachedSet(this, key);
    this.#sets.set(name, set);
    return set;
  }

  /** Null when there is no room. */
  takeWords(): Words | null {
    const words = this.#words[this.#used] ?? this.memory.take();
    if (words !== null) this.#words[this.#used++] = words;
    return words;
  }
}

/** The blocks of one set. */
export class CachedSet {
  readonly #cache: BlockCache;
  readonly #blockReader: BlockReader;
  readonly #blocks = new Map<number, KnownBlock>();

  constructor(cache: BlockCache, set: Buffer) {
    this.#cache = cache;
    this.#blockReader = new BlockReader(set);
  }

  /** A block at a version of the folder; null when it has no member. Good until the next look at any set. */
  get(reader: Reader, block: number, version: number): Words | null {
    const known = this.#blocks.get(block) ?? this.#add(block);
    if (known.keptAt === version) return known.hasMembers ? known.words : null;
    const { memory } = this.#cache;
    const isAgain = known.readAt === version;
    if (isAgain) known.words ??= this.#cache.takeWords();
    const into = (isAgain ? known.words : null) ?? memory.passing;
    known.readAt = version;
    known.hasMembers = this.#blockReader.load(reader, block, memory, into);
    if (!known.hasMembers || into === known.words) known.keptAt = version;
    return known.hasMembers ? into : null;
  }

  #add(block: number): KnownBlock {
    const added: KnownBlock = { readAt: -1, keptAt: -1, hasMembers: false, words: null };
    this.#blocks.set(block, added);
    return added;
  }
}
