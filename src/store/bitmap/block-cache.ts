import type { Reader } from '../engine/tables.js';
import { BlockReader } from './sets.js';
import { WordMemory, type Words } from './words.js';

interface KnownBlock {
  /** Version of the folder when the block was last read, and when the kept copy was made. */
  readAt: number;
  keptAt: number;
  hasMembers: boolean;
  /** Null while there was nothing to keep, or no room. */
  words: Words | null;
}

/**
 * Places in the memory that all caches share, 30 MiB: 1,750 kept blocks, 2,000 that one walk may add, and some more.
 */
const PLACES = 3840;

/** Made when sets are first combined: most commands never do that. */
let shared: WordMemory | undefined;

/**
 * A cache of blocks as words, for walks that combine sets. A block is kept while its folder is unchanged: each walk
 * reads the version of the folder, which every unit of work, of any process, raises when it changes a set. A block is
 * kept from its second read on, because agents read a folder many times before it changes, and keeping a block takes as
 * long as reading it.
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

  /** Begins a walk over these sets. Places that earlier walks used may be overwritten. */
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

  /** A block at a version of the folder; null when it has no member. Valid until the next `get` on any set. */
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
