import { type BlobId, newId } from '../../domain/ids.js';
import { asBuffer } from '../../lib/bytes.js';
import type { Purpose } from '../engine/room.js';
import type { Store } from '../engine/store.js';
import type { Reader, Writer } from '../engine/tables.js';
import { type BlobRef, blobChunksTable, blobUploadsTable, CHUNK_BYTES, getChunk } from './blobs.js';
import { addPending } from './pending.js';

/** Limits on bytes handed to LMDB and not yet flushed, for one upload and for all together. */
const WINDOW_BYTES = 1024 * 1024;
export const TOTAL_WINDOW_BYTES = 4 * 1024 * 1024;

/**
 * Smaller pieces are copied into one buffer: a sender that drips single bytes would otherwise cost some hundred bytes
 * of objects for each.
 */
const SMALL_PIECE_BYTES = 1024;
const GATHER_BYTES = 4096;

/**
 * Uploads of blobs. Full chunks are committed as they arrive, so that twenty messages of 25 MiB cost
 * 4 MiB of memory and never make a small commit wait behind a large one; the rest of a blob is written by
 * `finish`, inside the unit of work that makes it reachable. A blob of one chunk is one put in that unit.
 */
export class BlobUploads {
  readonly #store: Store;
  readonly #waiting = new Set<() => void>();
  #unflushedBytes = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @param purpose which room the bytes may take */
  begin(purpose: Purpose = 'add'): BlobUpload {
    return new BlobUpload(this, this.#store, purpose);
  }

  /** Is the window that all uploads share full? */
  get isFull(): boolean {
    return this.#unflushedBytes >= TOTAL_WINDOW_BYTES;
  }

  /** @internal */
  add(bytes: number): void {
    this.#unflushedBytes += bytes;
  }

  /** @internal */
  settle(bytes: number): void {
    this.#unflushedBytes -= bytes;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** @internal Resolves after the next flush of any upload. */
  nextFlush(): Promise<void> {
    return new Promise(resolve => this.#waiting.add(resolve));
  }
}

export class BlobUpload {
  readonly id: BlobId = newId<BlobId>(Date.now());
  readonly #uploads: BlobUploads;
  readonly #store: Store;
  readonly #purpose: Purpose;
  /** Bytes of the chunk that is being filled, as they came. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  /** Small pieces, gathered: its filled front is the last of the parts. */
  #gathered: { readonly bytes: Buffer; used: number } | null = null;
  /**
   * The first chunk, until a second one is full: a blob of up to two chunks is written by `finish` alone,
   * without an upload to record and to forget.
   */
  #first: Buffer | null = null;
  #isFirstCounted = false;
  /** Chunks that are committed or on their way. */
  #chunks = 0;
  #unflushedBytes = 0;
  #size = 0;
  #failure: { error: unknown } | null = null;
  #isAborted = false;

  constructor(uploads: BlobUploads, store: Store, purpose: Purpose) {
    this.#uploads = uploads;
    this.#store = store;
    this.#purpose = purpose;
  }

  /** Bytes taken so far. */
  get size(): number {
    return this.#size;
  }

  /** Takes bytes; the caller must not use the buffer again. False when the window is full: wait for `drained()`. */
  write(bytes: Uint8Array): boolean {
    // The upload has ended and the producer does not know yet: its bytes are dropped.
    if (this.#isAborted) return true;
    this.#size += bytes.length;
    let rest = bytes;
    while (this.#partBytes + rest.length >= CHUNK_BYTES) {
      const head = rest.subarray(0, CHUNK_BYTES - this.#partBytes);
      this.#parts.push(head);
      this.#takeChunk(joined(this.#parts, CHUNK_BYTES));
      this.#parts = [];
      this.#partBytes = 0;
      this.#gathered = null;
      rest = rest.subarray(head.length);
    }
    if (rest.length > 0) this.#keep(rest);
    return !this.#mustWait();
  }

  /** Resolves when more may be written. @throws what made a chunk fail. */
  async drained(): Promise<void> {
    while (this.#mustWait() && this.#failure === null) await this.#uploads.nextFlush();
    if (this.#failure !== null) throw this.#failure.error;
  }

  /**
   * Reads back one of the chunks written so far; null past the last. A chunk in flight is seen by later units of work,
   * and by readers after one of those.
   * @throws what made a chunk fail
   */
  chunkAt(reader: Reader, index: number): Uint8Array | null {
    if (this.#failure !== null) throw this.#failure.error;
    if (index < this.#chunks) {
      const chunk = getChunk(reader, this.id, index);
      if (chunk === undefined) throw new Error(`chunk ${index} of upload ${this.id} is not to be seen`);
      return chunk;
    }
    const kept = this.#first === null ? [] : [this.#first];
    if (this.#partBytes > 0) kept.push(this.#lastPart());
    return kept[index - this.#chunks] ?? null;
  }

  /**
   * Ends the blob inside a unit of work; from its commit on the blob is reachable through what the unit
   * writes. Chunks that are not flushed yet stand before this unit in the same order of commits.
   */
  finish(writer: Writer): BlobRef {
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#chunks > 0) writer.remove(blobUploadsTable, this.id);
    let index = this.#chunks;
    if (this.#first !== null) writer.put(blobChunksTable, { id: this.id, index: index++ }, this.#first);
    if (this.#partBytes > 0 || index === 0) {
      writer.put(blobChunksTable, { id: this.id, index }, this.#lastPart());
    }
    this.#letGoOfFirst();
    return { id: this.id, size: this.#size };
  }

  /** Abandons the upload; committed chunks are left to the sweeper. Never throws. */
  abort(): void {
    this.#isAborted = true;
    this.#parts = [];
    this.#gathered = null;
    this.#letGoOfFirst();
    if (this.#chunks === 0) return;
    this.#store
      .write(writer => {
        if (!writer.has(blobUploadsTable, this.id)) return;
        writer.remove(blobUploadsTable, this.id);
        // Due at once, whatever the clock says.
        addPending(writer, 0, { kind: 'purge-blob', id: this.id });
      }, 'settle')
      .catch(() => {
        // The store has failed and says so itself, or has no page left: the boot sweep frees this upload.
      });
  }

  /** What comes next may take long: bytes that are held meanwhile leave room in the window for other uploads. */
  stepAside(): void {
    if (this.#first !== null && this.#isFirstCounted) this.#uploads.settle(this.#first.length);
    this.#isFirstCounted = false;
  }

  /** Bytes of the chunk that is being filled. */
  #lastPart(): Buffer {
    return joined(this.#parts, this.#partBytes);
  }

  #keep(piece: Uint8Array): void {
    this.#partBytes += piece.length;
    if (piece.length >= SMALL_PIECE_BYTES) {
      this.#gathered = null;
      this.#parts.push(piece);
      return;
    }
    let gathered = this.#gathered;
    if (gathered === null || gathered.used + piece.length > GATHER_BYTES) {
      gathered = { bytes: Buffer.allocUnsafe(GATHER_BYTES), used: 0 };
      this.#gathered = gathered;
      this.#parts.push(gathered.bytes);
    }
    gathered.bytes.set(piece, gathered.used);
    gathered.used += piece.length;
    this.#parts[this.#parts.length - 1] = gathered.bytes.subarray(0, gathered.used);
  }

  #mustWait(): boolean {
    // An upload with nothing in flight may always go on, so the shared window cannot starve it.
    return this.#unflushedBytes >= WINDOW_BYTES || (this.#uploads.isFull && this.#unflushedBytes > 0);
  }

  #takeChunk(chunk: Buffer): void {
    if (this.#chunks === 0 && this.#first === null && !this.#uploads.isFull) {
      this.#first = chunk;
      this.#isFirstCounted = true;
      this.#uploads.add(chunk.length);
      return;
    }
    const first = this.#first;
    this.#letGoOfFirst();
    if (first !== null) this.#flushChunk(first);
    this.#flushChunk(chunk);
  }

  #letGoOfFirst(): void {
    this.stepAside();
    this.#first = null;
  }

  #flushChunk(chunk: Buffer): void {
    const index = this.#chunks++;
    this.#unflushedBytes += chunk.length;
    this.#uploads.add(chunk.length);
    this.#store
      .write(
        writer => {
          // Without the first chunk no record would name the others.
          if (this.#failure !== null) throw this.#failure.error;
          try {
            if (index === 0) writer.put(blobUploadsTable, this.id, Date.now());
            writer.put(blobChunksTable, { id: this.id, index }, chunk);
          } catch (error) {
            this.#failure = { error };
            throw error;
          }
        },
        this.#purpose,
        chunk.length,
      )
      .catch(error => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#unflushedBytes -= chunk.length;
        this.#uploads.settle(chunk.length);
      });
  }
}

/** A part that is alone is not copied. */
function joined(parts: readonly Uint8Array[], size: number): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? asBuffer(only) : Buffer.concat(parts, size);
}
