import type { Store } from '../engine/store.js';
import type { Table } from '../engine/tables.js';

export interface RawPut {
  readonly table: Table<Buffer, Buffer>;
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Of one unit of work: memory is bounded by two of them. */
const BATCH_BYTES = 4 * 2 ** 20;
const BATCH_ENTRIES = 8192;

/** Fills a store with entries as they are, in units of some MiB: one is flushed while the next is gathered. */
export class BatchWriter {
  readonly #store: Store;
  #puts: RawPut[] = [];
  #bytes = 0;
  #flushing: Promise<void> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * These go into the same unit of work.
   * @returns false when the unit is full: wait for `flushed` before the next
   */
  put(...puts: readonly RawPut[]): boolean {
    for (const put of puts) {
      this.#puts.push(put);
      this.#bytes += put.key.length + put.value.length;
    }
    return this.#bytes < BATCH_BYTES && this.#puts.length < BATCH_ENTRIES;
  }

  /** Resolves when the next unit may be gathered. @throws NoRoomError when the disk is full; units before it stay */
  flushed(): Promise<void> {
    return this.#flush();
  }

  /** Resolves when all is on disk. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    const puts = this.#puts;
    const bytes = this.#bytes;
    await this.#flushing;
    this.#puts = [];
    this.#bytes = 0;
    if (puts.length === 0) return;
    this.#flushing = this.#store.write(
      writer => {
        for (const { table, key, value } of puts) writer.put(table, key, value);
      },
      'add',
      bytes,
    );
    // Whoever waits next is told.
    this.#flushing.catch(() => {});
  }
}
