import { BLOCK_BITS, BLOCK_WORDS, blockOf, offsetOf } from './bit-block.js';

/**
 * A set of sequence numbers that was found somewhere else and is in no table, for combining with sets that are. It takes
 * 8 KiB for each block that it has a number in.
 */
export class NumberSet {
  readonly #blocks = new Map<number, Int32Array>();
  /** Most numbers that are added one after the other lie in one block. */
  #lastNumber = -1;
  #lastWords: Int32Array = new Int32Array(0);

  constructor(seqs: Iterable<number> = []) {
    for (const seq of seqs) this.add(seq);
  }

  add(seq: number): void {
    const number = blockOf(seq);
    const words = number === this.#lastNumber ? this.#lastWords : this.#enter(number);
    const offset = seq - number * BLOCK_BITS;
    words[offset >> 5] = (words[offset >> 5] ?? 0) | (1 << (offset & 31));
  }

  addAll(other: NumberSet): void {
    for (const [number, words] of other.#blocks) {
      const own = this.#enter(number);
      for (let at = 0; at < BLOCK_WORDS; at++) own[at] = (own[at] ?? 0) | (words[at] ?? 0);
    }
  }

  has(seq: number): boolean {
    const offset = offsetOf(seq);
    return (((this.#blocks.get(blockOf(seq))?.[offset >> 5] ?? 0) >> (offset & 31)) & 1) === 1;
  }

  /** The words of a block; undefined when it has no number there. */
  wordsOf(block: number): Int32Array | undefined {
    return this.#blocks.get(block);
  }

  /** Bytes that it takes in memory. */
  get bytes(): number {
    return this.#blocks.size * BLOCK_WORDS * Int32Array.BYTES_PER_ELEMENT;
  }

  #enter(number: number): Int32Array {
    let words = this.#blocks.get(number);
    if (words === undefined) {
      words = new Int32Array(BLOCK_WORDS);
      this.#blocks.set(number, words);
    }
    this.#lastNumber = number;
    this.#lastWords = words;
    return words;
  }
}
