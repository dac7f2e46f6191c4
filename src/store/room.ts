import { statfsSync } from 'node:fs';

/** What must stay free. */
export interface RoomLimits {
  /** Directory whose file system is watched. */
  readonly path: string;
  readonly mapSizeBytes: number;
  /** Free bytes of the file system below which no new mail is taken. */
  readonly diskFloorBytes: number;
}

/** A look at the file system and the map costs some microseconds; it is taken anew when older than this. */
const SAMPLE_MS = 100;

/**
 * Of the map, the last sixteenth is kept free (at most 1 GiB): freed pages lie scattered, so that a run
 * of sixteen for a chunk may be missing before the count says full, and deleting needs new pages too.
 */
const MAP_RESERVE_DIVISOR = 16;
const MAP_RESERVE_MAX_BYTES = 2 ** 30;

export interface RoomSample {
  readonly diskFreeBytes: number;
  readonly mapFreeBytes: number;
}

/**
 * Is there room for new mail? Disk-full and map-full are met here, before LMDB meets them: a failed
 * commit ends the process, a refused message is only late.
 */
export class Room {
  readonly #limits: RoomLimits;
  readonly #mapReserveBytes: number;
  readonly #usedBytes: () => number;
  #sample: RoomSample | null = null;
  #sampledAt = Number.NEGATIVE_INFINITY;

  constructor(limits: RoomLimits, usedBytes: () => number) {
    this.#limits = limits;
    this.#usedBytes = usedBytes;
    this.#mapReserveBytes = Math.min(limits.mapSizeBytes / MAP_RESERVE_DIVISOR, MAP_RESERVE_MAX_BYTES);
  }

  /** True when `bytes` more may be taken. */
  hasRoomFor(bytes: number): boolean {
    const { diskFreeBytes, mapFreeBytes } = this.sample();
    return (
      diskFreeBytes - bytes >= this.#limits.diskFloorBytes && mapFreeBytes - bytes >= this.#mapReserveBytes
    );
  }

  sample(): RoomSample {
    const now = performance.now();
    if (this.#sample === null || now - this.#sampledAt > SAMPLE_MS) {
      const fs = statfsSync(this.#limits.path);
      this.#sample = {
        diskFreeBytes: fs.bavail * fs.bsize,
        mapFreeBytes: this.#limits.mapSizeBytes - this.#usedBytes(),
      };
      this.#sampledAt = now;
    }
    return this.#sample;
  }
}
