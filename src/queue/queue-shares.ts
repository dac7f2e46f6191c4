import type { Lane } from './work-places.js';

/**
 * Who may fill a queue: an owner has room for as many ids as there are free places left for all others. One lane alone
 * gets half of the places, two get a third each, and so on: so there is room for the first ids of another lane however
 * much work the others have. An owner is bounded so, and each of its destinations within what the owner may still have.
 * The ids that find no room stay in the store.
 */
export class QueueShares {
  readonly #max: number;
  readonly #counts = new Map<string, number>();
  #size = 0;
  /** Lanes that were refused since the last time there was room again. */
  #behind = new Set<string>();
  /** Those that were told of it. */
  #told: ReadonlySet<string> = new Set();

  constructor(max: number) {
    this.#max = max;
  }

  /** No lane has room. */
  get isFull(): boolean {
    return this.#size >= this.#max;
  }

  /** All lanes that had room again have none any more. */
  get isRefilled(): boolean {
    return [...this.#told].every(lane => this.#behind.has(lane));
  }

  /** Takes a place for an id of the lane. Returns false when it has no room. */
  enter(lane: Lane): boolean {
    if (!lanesOf(lane).every(key => this.#countOf(key) < this.#boundOf(key, lane))) {
      this.#behind.add(keyOf(lane));
      return false;
    }
    for (const key of lanesOf(lane)) this.#counts.set(key, this.#countOf(key) + 1);
    this.#size++;
    return true;
  }

  /**
   * Gives a place back.
   * @returns true when there is room again, to about a half, for lanes that were refused; told once
   */
  leave(lane: Lane): boolean {
    for (const key of lanesOf(lane)) {
      const count = this.#countOf(key) - 1;
      if (count <= 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    }
    this.#size--;
    if (this.#behind.size === 0) return false;
    const key = keyOf(lane);
    const isRoom = this.#behind.has(key)
      ? 2 * this.#countOf(key) <= this.#boundOf(key, lane)
      : 2 * (this.#max - this.#size) >= this.#max;
    if (!isRoom) return false;
    this.#told = this.#behind;
    this.#behind = new Set();
    return true;
  }

  #countOf(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** What is free is for an owner; what the owner may still have of it is for a destination. */
  #boundOf(key: string, lane: Lane): number {
    const free = this.#max - this.#size;
    const owner = ownerKeyOf(lane);
    return key === owner ? free : free - this.#countOf(owner);
  }
}

function ownerKeyOf({ way, owner }: Lane): string {
  return `${way} ${owner}`;
}

function keyOf(lane: Lane): string {
  return lane.destination === undefined ? ownerKeyOf(lane) : `${ownerKeyOf(lane)} ${lane.destination}`;
}

function lanesOf(lane: Lane): readonly string[] {
  return lane.destination === undefined ? [ownerKeyOf(lane)] : [ownerKeyOf(lane), keyOf(lane)];
}
