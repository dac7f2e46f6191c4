import { fastWords, loadBlock, type Words } from './bit-block.js';

interface KnownBlock {
  /** Version of its mailbox when the block was last read, and when what is kept of it was. */
  readAt: number;
  keptAt: number;
  hasMembers: boolean;
  /** Null while there was nothing to keep. */
  words: Words | null;
}

/**
 * Blocks of sets as words, for walks that combine them. They are kept for as long as their mailbox stays as
 * it is: its version, which each walk reads afresh, is counted up in every unit that changes one of its sets,
 * whatever process it is of. Agents look at a mailbox many times before it changes. What is looked at once
 * is not kept: that would take as long as the look.
 */
export class BlockCache {
  readonly #limit: number;
  readonly #sets = new Map<string, CachedSet>();
  /** Those that blocks have, then those that are free. */
  readonly #words: Words[] = [];
  #used = 0;
  #passing: Words | undefined;

  /** @param limit with more blocks than this, nothing is kept for the next walk */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The sets of a walk, in the order of their keys. What walks before had is theirs no more. */
  begin(keys: readonly Buffer[]): CachedSet[] {
    if (this.#used >= this.#limit || this.#sets.size >= this.#limit) {
      this.#sets.clear();
      this.#used = 0;
    }
    return keys.map(key => this.#setOf(key));
  }

  #setOf(key: Buffer): CachedSet {
    const name = key.toString('latin1');
    const known = this.#sets.get(name);
    if (known !== undefined) return known;
    const set = new CachedSet(this, key);
    this.#sets.set(name, set);
    return set;
  }

  takeWords(): Words {
    const words = this.#words[this.#used] ?? fastWords();
    this.#words[this.#used++] = words;
    return words;
  }

  /** Words for one look. */
  get passing(): Words {
    this.#passing ??= fastWords();
    return this.#passing;
  }
}

/** The blocks of one set. */
export class CachedSet {
  readonly #cache: BlockCache;
  readonly #key: Buffer;
  readonly #blocks = new Map<number, KnownBlock>();

  constructor(cache: BlockCache, key: Buffer) {
    this.#cache = cache;
    this.#key = key;
  }

  /**
   * A block at a version of the mailbox; null when it has no member. Good until the next look at any set.
   * @param read gives the stored bytes of a block, by the key of its set
   */
  get(
    block: number,
    version: number,
    read: (key: Buffer, block: number) => Buffer | undefined,
  ): Words | null {
    const known = this.#blocks.get(block) ?? this.#add(block);
    if (known.keptAt === version) return known.hasMembers ? known.words : null;
    const bytes = read(this.#key, block);
    const isAgain = known.readAt === version;
    known.readAt = version;
    if (bytes === undefined) {
      known.keptAt = version;
      known.hasMembers = false;
      return null;
    }
    if (!isAgain) return loaded(this.#cache.passing, bytes);
    known.keptAt = version;
    known.hasMembers = true;
    known.words ??= this.#cache.takeWords();
    return loaded(known.words, bytes);
  }

  #add(block: number): KnownBlock {
    const added: KnownBlock = { readAt: -1, keptAt: -1, hasMembers: false, words: null };
    this.#blocks.set(block, added);
    return added;
  }
}

function loaded(words: Words, bytes: Buffer): Words {
  loadBlock(words, bytes);
  return words;
}
