import type { Lane } from './work-places.js';

/**
 * Who may fill a queue: a lane has room for as many ids as there are free places left for all others. One lane alone
 * gets half of the places, two get a third each, and so on: so there is room for the first ids of another lane however
 * much work the others have. The ids that find no room stay in the store.
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
    const key = keyOf(lane);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#max - this.#size) {
      this.#behind.add(key);
      return false;
    }
    this.#counts.set(key, count + 1);
    this.#size++;
    return true;
  }

  /**
   * Gives a place back.
   * @returns true when there is room again, to about a half, for lanes that were refused; told once
   */
  leave(lane: Lane): boolean {
    const key = keyOf(lane);
    const count = (this.#counts.get(key) ?? 1) - 1;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
    this.#size--;
    if (this.#behind.size === 0) return false;
    const free = this.#max - this.#size;
    const isRoom = this.#behind.has(key) ? 2 * count <= free : 2 * free >= this.#max;
    if (!isRoom) return false;
    this.#told = this.#behind;
    this.#behind = new Set();
    return true;
  }
}

function keyOf({ way, owner }: Lane): string {
  return `${way} ${owner}`;
}
