/**
 * Compares two sets of entries: those that the records require of the indexes (`expect`) and those that the indexes
 * hold (`find`).
 *
 * It never keeps the entries, of which there are millions: a first reading adds up their hashes in some thousand
 * buckets, and only the entries of buckets that do not come out even are kept, by name, in a second reading. Two sets
 * that differ have the same sums with a chance of one in 2^64 a bucket.
 */
export interface Ledger {
  /** This entry must be there. */
  expect(entry: string, times?: number): void;
  /** This entry is there. */
  find(entry: string, times?: number): void;
}

const BUCKETS = 4096;

/** The first reading. */
export class SumLedger implements Ledger {
  readonly #low = new Int32Array(BUCKETS);
  readonly #high = new Int32Array(BUCKETS);

  expect(entry: string, times = 1): void {
    this.#add(entry, times);
  }

  find(entry: string, times = 1): void {
    this.#add(entry, -times);
  }

  /** Buckets in which what is there is not what must be there. */
  differing(): number[] {
    return Array.from(this.#low.keys()).filter(at => this.#low[at] !== 0 || this.#high[at] !== 0);
  }

  #add(entry: string, times: number): void {
    hashEntry(entry);
    this.#low[bucket] = (this.#low[bucket] ?? 0) + Math.imul(low, times);
    this.#high[bucket] = (this.#high[bucket] ?? 0) + Math.imul(high, times);
  }
}

/** The second reading: names what differs in the buckets that it is given. */
export class NameLedger implements Ledger {
  readonly #buckets: ReadonlySet<number>;
  readonly #entries = new Map<string, number>();

  constructor(buckets: Iterable<number>) {
    this.#buckets = new Set(buckets);
  }

  expect(entry: string, times = 1): void {
    this.#add(entry, times);
  }

  find(entry: string, times = 1): void {
    this.#add(entry, -times);
  }

  faults(): string[] {
    return [...this.#entries].map(([entry, times]) =>
      times > 0 ? `missing: ${entry}` : `there without reason: ${entry}`,
    );
  }

  #add(entry: string, times: number): void {
    hashEntry(entry);
    if (!this.#buckets.has(bucket)) return;
    const sum = (this.#entries.get(entry) ?? 0) + times;
    if (sum === 0) this.#entries.delete(entry);
    else this.#entries.set(entry, sum);
  }
}

/** What `hashEntry` comes to: three numbers without an object for each of millions of entries. */
let low = 0;
let high = 0;
let bucket = 0;

/** Two independent mixes of 32 bits, in the manner of MurmurHash. */
function hashEntry(entry: string): void {
  let a = 0xdead_beef;
  let b = 0x41c6_ce57;
  for (let at = 0; at < entry.length; at++) {
    const code = entry.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e37_79b1);
    b = Math.imul(b ^ code, 0x5f35_6495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85eb_ca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2_ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85eb_ca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2_ae35);
  low = a;
  high = b;
  bucket = (a ^ (a >>> 12) ^ (b >>> 20)) & (BUCKETS - 1);
}
