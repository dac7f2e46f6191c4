import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../../domain/errors.js';
import { freeBytesAt } from './disk.js';

/** What must stay free; below it nothing new is taken. */
export interface RoomLimits {
  /** Directory whose file system is watched. */
  readonly path: string;
  readonly mapSizeBytes: number;
  /** Free bytes of the file system below which the file of the store must not grow. */
  readonly diskFloorBytes: number;
}

/** How much of the file and of the map is in use. */
export interface FileUsage {
  /** Bytes that the file has reached, free pages within it included; cheap to ask. */
  reachedBytes(): number;
  /** What live pages take: asks every table, which costs a fifth of a millisecond. */
  usedBytes(): number;
}

/**
 * What a unit of work is for. The store asks room for every unit before it runs.
 * - `add`: brings something new. Refused where it would take the last room, or room that was promised.
 * - `finish`: parsing of mail that was accepted. May take the room that was promised to it and a little of the floor,
 *   but not the last.
 * - `settle`: deletes, expires, or records in place what has happened already. Goes on while LMDB finds a page.
 */
export type Purpose = 'add' | 'finish' | 'settle';

/** A look at the file system and the map costs some microseconds; it is taken anew when older than this. */
const SAMPLE_MS = 100;

/**
 * Of the map, the last sixteenth is kept free (at most 1 GiB): freed pages lie scattered, so that a run
 * of sixteen for a chunk may be missing before the count says full, and deleting needs new pages too.
 */
const MAP_RESERVE_DIVISOR = 16;
const MAP_RESERVE_MAX_BYTES = 2 ** 30;

/**
 * Of the free pages inside the file, this share counts as room, less a fixed reserve: runs of sixteen for a chunk may
 * be missing, and pages that were freed a moment ago are not to be had yet. Measured with messages deleted at random
 * (30 to 90 of 100): of the free pages 91 to 99.9 of 100 were used before the file grew by a megabyte, the fewest with
 * messages of one size of 75 KB.
 */
const REUSABLE_SHARE = 0.75;
const REUSE_RESERVE_BYTES = 4 * 2 ** 20;

/**
 * Below the floor the file should not grow at all. Where it does by more than this part of the floor, its free pages
 * cannot be used, whatever their count says: they no longer count as room until a quarter more is free. Each time half
 * as much is allowed, so that it never comes to more than half of the floor.
 */
const GROWTH_DIVISOR = 4;

/**
 * What is promised to the parsing of mail is an estimate. So that no message waits for ever because those before it took a
 * little more than theirs, finishing may take this part of the floor, 64 MiB at most.
 */
const FINISH_DIVISOR = 8;
const FINISH_MAX_BYTES = 64 * 2 ** 20;

/** For whoever waits for room: how often it is looked for, and what a client is told (Retry-After). */
const LOOK_MS = 250;
const RETRY_AFTER_S = 60;

/** There is no room for a unit of work; nothing of it was stored. */
export class NoRoomError extends Refusal {
  constructor(cause?: unknown) {
    super({
      code: 'insufficient_room',
      message:
        'There is no room on the disk of this service at the moment, and nothing was changed. Deleting makes room; else try again in a while.',
      retryAfterS: RETRY_AFTER_S,
    });
    this.name = 'NoRoomError';
    if (cause !== undefined) this.cause = cause;
  }
}

/**
 * What parsing adds for one message and inbox: its content is at most about as long as it is itself, and so are the words
 * by which it is found, of which no more are kept than this.
 */
export function bytesToParse(rawBytes: number): number {
  return rawBytes + Math.min(rawBytes, MAX_WORDS_BYTES) + 4096;
}

const MAX_WORDS_BYTES = 512 * 1024;

export interface RoomSample {
  readonly diskFreeBytes: number;
  /** Of the free pages inside the file, those that count as room. */
  readonly reusableBytes: number;
  readonly mapFreeBytes: number;
}

/**
 * Is there room for more? Room is what the disk has free above its floor, and pages inside the file that can be used
 * again, less what was promised: the parsing of mail that was accepted or is coming in. Disk-full and map-full are met
 * here, before LMDB meets them.
 */
export class Room {
  readonly #limits: RoomLimits;
  readonly #mapReserveBytes: number;
  /** Of the floor, what finishing may take. */
  readonly #lentBytes: number;
  readonly #usage: FileUsage;
  #owedBytes = 0;
  #claimedBytes = 0;
  /** Bytes that were admitted since the last look, and between the two looks before: the disk may not show them yet. */
  #admittedBytes = 0;
  #admittedBefore = 0;
  #diskFreeBytes = 0;
  /** When the disk last had next to nothing left. */
  #fullAt = Number.NEGATIVE_INFINITY;
  #unreachedBytes = 0;
  /** Counted when somebody needs it. */
  #freePages: number | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  readonly #guard: GrowthGuard;

  constructor(limits: RoomLimits, usage: FileUsage) {
    this.#limits = limits;
    this.#usage = usage;
    this.#mapReserveBytes = Math.min(limits.mapSizeBytes / MAP_RESERVE_DIVISOR, MAP_RESERVE_MAX_BYTES);
    this.#lentBytes = Math.min(limits.diskFloorBytes / FINISH_DIVISOR, FINISH_MAX_BYTES);
    this.#guard = new GrowthGuard(limits.diskFloorBytes / GROWTH_DIVISOR);
  }

  /** True when `bytes` more may be stored for this purpose. */
  hasRoomFor(bytes: number, purpose: Purpose = 'add'): boolean {
    if (purpose === 'settle') return true;
    this.#look();
    const promised = purpose === 'add' ? this.#owedBytes + this.#claimedBytes : 0;
    const wanted = bytes + promised + this.#admittedBytes + this.#admittedBefore;
    const mapReserve = purpose === 'add' ? this.#mapReserveBytes : 0;
    return (
      this.#fitsMap(wanted + mapReserve) && this.#fitsDisk(wanted, purpose === 'finish' ? this.#lentBytes : 0)
    );
  }

  /** As `hasRoomFor`, and counts the bytes as stored. @throws NoRoomError */
  admit(bytes: number, purpose: Purpose): void {
    if (!this.hasRoomFor(bytes, purpose)) throw new NoRoomError();
    this.#admittedBytes += bytes;
  }

  /** Room that one message on its way claims for its parsing. To be released when it has ended. */
  claim(): RoomClaim {
    return new RoomClaim(this, bytes => {
      this.#claimedBytes += bytes;
    });
  }

  /** Mail was accepted whose parsing will take so much, or (less than 0) it is done with. */
  owe(bytes: number): void {
    this.#owedBytes = Math.max(0, this.#owedBytes + bytes);
  }

  /** What was promised to mail that is accepted and not parsed yet. */
  get owedBytes(): number {
    return this.#owedBytes;
  }

  /** Resolves when there is room for this purpose, or when the signal is aborted. */
  async untilRoom(purpose: Purpose, signal: AbortSignal): Promise<void> {
    while (!this.hasRoomFor(0, purpose) && !signal.aborted) {
      await delay(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Does the disk have next to nothing left, or had it a moment ago? Others fill and empty it at any time. */
  wasDiskFull(): boolean {
    this.#askDisk();
    return performance.now() - this.#fullAt < FULL_FOR_MS;
  }

  /** This part of what the disk has free and the store takes. */
  shareBytes(divisor: number): number {
    this.#look();
    const takenBytes = this.#limits.mapSizeBytes - this.#unreachedBytes;
    return Math.min(this.#diskFreeBytes + takenBytes, this.#limits.mapSizeBytes) / divisor;
  }

  /** What is free now, to the page. */
  sample(): RoomSample {
    const usedBytes = this.#usage.usedBytes();
    return {
      diskFreeBytes: this.#askDisk(),
      reusableBytes: soberly(this.#usage.reachedBytes() - usedBytes),
      mapFreeBytes: this.#limits.mapSizeBytes - usedBytes,
    };
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#lookedAt <= SAMPLE_MS) return;
    // What was admitted long before this look is on the disk.
    this.#admittedBefore = now - this.#lookedAt < 10 * SAMPLE_MS ? this.#admittedBytes : 0;
    this.#admittedBytes = 0;
    this.#lookedAt = now;
    this.#diskFreeBytes = this.#askDisk();
    this.#unreachedBytes = this.#limits.mapSizeBytes - this.#usage.reachedBytes();
    this.#freePages = null;
    if (this.#diskFreeBytes >= this.#limits.diskFloorBytes) this.#guard.rest();
    else this.#guard.watch(this.#limits.mapSizeBytes - this.#unreachedBytes, () => this.#freeBytes());
  }

  /** Where the file has reached less than what is wanted lies behind it, nobody need count its pages. */
  #fitsMap(wanted: number): boolean {
    return this.#unreachedBytes >= wanted || this.#unreachedBytes + this.#freeBytes() >= wanted;
  }

  /** @param lent of the floor, what may be taken */
  #fitsDisk(wanted: number, lent: number): boolean {
    const above = Math.max(0, this.#diskFreeBytes - this.#limits.diskFloorBytes + lent);
    // Not 0 bytes of 0: at the floor itself there is no room.
    if (above > wanted) return true;
    if (!this.#guard.isTrusting) return false;
    return above + soberly(this.#freeBytes()) > wanted;
  }

  /** Bytes of free pages inside the file. */
  #freeBytes(): number {
    this.#freePages ??= this.#limits.mapSizeBytes - this.#unreachedBytes - this.#usage.usedBytes();
    return this.#freePages;
  }

  #askDisk(): number {
    const freeBytes = freeBytesAt(this.#limits.path);
    if (freeBytes < FULL_BYTES) this.#fullAt = performance.now();
    return freeBytes;
  }
}

/** A commit that fails with less than this left has failed for want of room. */
const FULL_BYTES = 16 * 2 ** 20;
/** It may be told of its failure this much later. */
const FULL_FOR_MS = 5_000;

function soberly(freeBytes: number): number {
  return Math.max(0, freeBytes * REUSABLE_SHARE - REUSE_RESERVE_BYTES);
}

/** Room for the parsing of one message, claimed while the message comes in. */
export class RoomClaim {
  readonly #room: Room;
  readonly #add: (bytes: number) => void;
  #bytes = 0;

  constructor(room: Room, add: (bytes: number) => void) {
    this.#room = room;
    this.#add = add;
  }

  /** Claims so much in all, if there is room for it and for `besides` more. */
  growTo(bytes: number, besides = 0): boolean {
    if (!this.#room.hasRoomFor(bytes - this.#bytes + besides)) return false;
    this.#set(bytes);
    return true;
  }

  release(): void {
    this.#set(0);
  }

  #set(bytes: number): void {
    this.#add(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}

/** Watches that the file does not grow while the disk is below its floor. */
class GrowthGuard {
  readonly #firstBytes: number;
  #allowedBytes: number;
  #startedAt: number | null = null;
  /** How much was free in the file when its free pages turned out to be of no use. */
  #distrustedAt: number | null = null;

  constructor(allowedBytes: number) {
    this.#firstBytes = allowedBytes;
    this.#allowedBytes = allowedBytes;
  }

  get isTrusting(): boolean {
    return this.#distrustedAt === null;
  }

  /** The disk is above its floor. */
  rest(): void {
    this.#startedAt = null;
    this.#distrustedAt = null;
    this.#allowedBytes = this.#firstBytes;
  }

  watch(reachedBytes: number, freeBytes: () => number): void {
    this.#startedAt ??= reachedBytes;
    if (this.#distrustedAt !== null) {
      if (freeBytes() < 1.25 * this.#distrustedAt) return;
      this.#distrustedAt = null;
      this.#startedAt = reachedBytes;
      this.#allowedBytes /= 2;
    } else if (reachedBytes - this.#startedAt > this.#allowedBytes) {
      this.#distrustedAt = freeBytes();
    }
  }
}
