import {
  BLOCK_BITS,
  BLOCK_BYTES,
  BLOCK_WORDS,
  countBits,
  type LentBlock,
  listBits,
  loadBlock,
} from './bit-block.js';
import { startWordKernel, type WordLoops } from './word-kernel.js';

declare const brand: unique symbol;

/**
 * A block as a bit map in scratch memory. It is a place in `WordMemory`, not an array: the next step of a walk may
 * overwrite it. It is never handed out of this directory.
 */
export type Words = number & { readonly [brand]: 'place' };

/** A place begins every so many bytes. */
const STRIDE = 8192;

/**
 * Scratch memory for a number of blocks as bit maps, and the operations on them. The operating system provides only the
 * pages that are used. The hot loops run in the WebAssembly kernel where there is one.
 */
export class WordMemory {
  /** The result of a walk. Walks never overlap, so all use the same places. */
  readonly result = placeOf(0);
  /** What a walk has not matched yet. */
  readonly missed = placeOf(1);
  /** A block that is read once and not kept. */
  readonly passing = placeOf(2);
  readonly #words: Int32Array;
  readonly #loops: WordLoops;
  readonly #places: number;
  #taken = 3;

  /** @param places how many, three at least */
  constructor(places: number, kernel = startWordKernel(BLOCK_BYTES, places * STRIDE)) {
    this.#places = places;
    this.#words = new Int32Array(kernel?.memory ?? new ArrayBuffer(places * STRIDE));
    this.#loops = kernel ?? plainLoops(this.#words);
  }

  /** A free place, which the caller keeps for good; null when none is left. */
  take(): Words | null {
    return this.#taken < this.#places ? placeOf(this.#taken++) : null;
  }

  fill(into: Words): void {
    this.#words.fill(~0, into >> 2, (into >> 2) + BLOCK_WORDS);
  }

  load(into: Words, block: LentBlock): void {
    loadBlock(this.#words, into >> 2, block);
  }

  /** Brings the words of a block from elsewhere. */
  write(into: Words, words: Int32Array): void {
    this.#words.set(words, into >> 2);
  }

  copy(into: Words, from: Words): void {
    this.#words.copyWithin(into >> 2, from >> 2, (from >> 2) + BLOCK_WORDS);
  }

  /** Keeps in `into` what is in `words` too; false when nothing is left. */
  keep(into: Words, words: Words): boolean {
    return this.#loops.keep(into, words) !== 0;
  }

  /** Takes out of `into` what is in `words`; false when nothing is left. */
  drop(into: Words, words: Words): boolean {
    return this.#loops.drop(into, words) !== 0;
  }

  /** Keeps in `into` only offsets from `first` up to but not including `end`. */
  clip(into: Words, first: number, end: number): void {
    const [words, start] = [this.#words, into >> 2];
    if (first > 0) {
      words.fill(0, start, start + Math.min(first >> 5, BLOCK_WORDS));
      if (first < BLOCK_BITS) {
        const at = start + (first >> 5);
        words[at] = (words[at] ?? 0) & (~0 << (first & 31));
      }
    }
    if (end < BLOCK_BITS) {
      const last = Math.max(end, 0);
      const at = start + (last >> 5);
      words[at] = (words[at] ?? 0) & ~(~0 << (last & 31));
      words.fill(0, at + 1, start + BLOCK_WORDS);
    }
  }

  /** Clears the bits from `first` up to but not including `end`. */
  cut(into: Words, first: number, end: number): void {
    const [words, start] = [this.#words, into >> 2];
    const last = Math.min(end, BLOCK_BITS);
    for (let bit = Math.max(first, 0); bit < last; bit = (bit | 31) + 1) {
      const behind = last - (bit & ~31);
      const kept = ~(~0 << (bit & 31)) | (behind < 32 ? ~0 << behind : 0);
      words[start + (bit >> 5)] = (words[start + (bit >> 5)] ?? 0) & kept;
    }
  }

  count(words: Words): number {
    return this.#loops.count(words);
  }

  /** Offsets that are set, from the highest down or from the lowest up, at most `limit`. */
  list(words: Words, isDescending: boolean, limit: number): number[] {
    return listBits(this.#words, words >> 2, isDescending, limit);
  }

  /** The words of a block in an array of their own. */
  copyOf(words: Words): Int32Array {
    return this.#words.slice(words >> 2, (words >> 2) + BLOCK_WORDS);
  }
}

const placeOf = (index: number): Words => (index * STRIDE) as Words;

/** The loops in JavaScript, ten times slower, for where there is no kernel. Four words a step: a block has a multiple. */
function plainLoops(words: Int32Array): WordLoops {
  const combine = (into: number, other: number, invert: number): number => {
    let left = 0;
    const [start, from] = [into >> 2, other >> 2];
    for (let at = 0; at < BLOCK_WORDS; at += 4) {
      const first = (words[start + at] ?? 0) & ((words[from + at] ?? 0) ^ invert);
      const second = (words[start + at + 1] ?? 0) & ((words[from + at + 1] ?? 0) ^ invert);
      const third = (words[start + at + 2] ?? 0) & ((words[from + at + 2] ?? 0) ^ invert);
      const fourth = (words[start + at + 3] ?? 0) & ((words[from + at + 3] ?? 0) ^ invert);
      words[start + at] = first;
      words[start + at + 1] = second;
      words[start + at + 2] = third;
      words[start + at + 3] = fourth;
      left |= first | second | third | fourth;
    }
    return left;
  };
  return {
    keep: (into, other) => combine(into, other, 0),
    drop: (into, other) => combine(into, other, ~0),
    count: start => countBits(words, start >> 2),
  };
}
