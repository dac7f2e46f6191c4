import { statfsSync } from 'node:fs';

/** What must stay free; below it new mail is refused. */
export interface RoomLimits {
  /** Directory whose file system is watched. */
  readonly path: string;
  readonly mapSizeBytes: number;
  /** Free bytes of the file system below which no new mail is taken. */
  readonly diskFloorBytes: number;
}

/** How much of the map is in use. */
export interface MapUsage {
  /** Never less than what is in use, and cheap to ask. */
  reachedBytes(): number;
  /** What live pages take: asks every table, which costs a fifth of a millisecond. */
  usedBytes(): number;
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
  readonly #usage: MapUsage;
  #sample: RoomSample | null = null;
  #sampledAt = Number.NEGATIVE_INFINITY;

  constructor(limits: RoomLimits, usage: MapUsage) {
    this.#limits = limits;
    this.#usage = usage;
    this.#mapReserveBytes = Math.min(limits.mapSizeBytes / MAP_RESERVE_DIVISOR, MAP_RESERVE_MAX_BYTES);
  }

  /** True when `bytes` more may be taken. */
  hasRoomFor(bytes: number): boolean {
    const { diskFreeBytes, mapFreeBytes } = this.#look();
    return (
      diskFreeBytes - bytes >= this.#limits.diskFloorBytes && mapFreeBytes - bytes >= this.#mapReserveBytes
    );
  }

  /** What is free now, to the page. */
  sample(): RoomSample {
    return { diskFreeBytes: this.#diskFreeBytes(), mapFreeBytes: this.#freeAfter(this.#usage.usedBytes()) };
  }

  /** As `sample`, but not quite new, and of a map with plenty of room only what the file has not reached. */
  #look(): RoomSample {
    const now = performance.now();
    if (this.#sample === null || now - this.#sampledAt > SAMPLE_MS) {
      const unreachedBytes = this.#freeAfter(this.#usage.reachedBytes());
      const isPlenty = unreachedBytes > 2 * this.#mapReserveBytes;
      this.#sample = isPlenty
        ? { diskFreeBytes: this.#diskFreeBytes(), mapFreeBytes: unreachedBytes }
        : this.sample();
      this.#sampledAt = now;
    }
    return this.#sample;
  }

  #diskFreeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#limits.path);
    return bavail * bsize;
  }

  #freeAfter(bytes: number): number {
    return this.#limits.mapSizeBytes - bytes;
  }
}
