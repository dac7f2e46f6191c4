import type { Id } from '../domain/ids.js';
import { Turns } from '../lib/turns.js';

/** What is worked on: the id of a message, or of another record that names work. */
export type WorkId = Id<string>;

/** Where an id waits for its turn. */
export interface Lane {
  /** How the work is done. Each way has places of its own, so that work which hangs in one holds up no other. */
  readonly way: string;
  /** Whose work it is. The owners whose ids wait for one way take turns. */
  readonly owner: string;
  /** Must it be worked on while nothing else is? */
  readonly isAlone: boolean;
}

/** Every way, and how many ids are worked on at once in it. */
export type Places = Readonly<Record<string, number>>;

/** The places of one way, and who waits for them. */
interface Way {
  readonly places: number;
  readonly waiting: Turns<WorkId>;
  taken: number;
  /** When work last ended here, or first came after there was none, by the clock of the process. */
  movedAt: number;
}

/**
 * Decides which id is worked on next, and never has one id worked on twice at once. Ids wait by way, and their owners
 * take turns. Ids that must be alone begin when nothing else is in flight; their turns alternate with those of all
 * others.
 */
export class WorkPlaces {
  readonly #work: (id: WorkId) => Promise<void>;
  readonly #ways: ReadonlyMap<string, Way>;
  readonly #alone: Way = newWay(1);
  #isAlonesTurn = true;
  /** Every id that waits or is in flight. */
  readonly #ids = new Set<WorkId>();
  readonly #inFlight = new Map<WorkId, Promise<void>>();
  #movedAt = performance.now();
  #isClosed = false;

  /** @param work does the work of an id; never rejects */
  constructor(places: Places, work: (id: WorkId) => Promise<void>) {
    this.#work = work;
    this.#ways = new Map(Object.entries(places).map(([way, count]) => [way, newWay(count)]));
  }

  /** What is being worked on. */
  get inFlight(): ReadonlyMap<WorkId, Promise<void>> {
    return this.#inFlight;
  }

  /** Does it wait here, or is it in flight? */
  has(id: WorkId): boolean {
    return this.#ids.has(id);
  }

  /** Works on these ids, each when its turn has come. Those that are here already are skipped. */
  add(ids: Iterable<readonly [WorkId, Lane]>): void {
    for (const [id, lane] of ids) {
      if (this.#isClosed || this.has(id)) continue;
      const way = this.#wayOf(lane);
      this.#arrive(id, way);
      way.waiting.add(lane.owner, id);
    }
    this.#admit();
  }

  /**
   * Begins work on an id at once.
   * @returns false if there is no free place, others wait for one, the id must be worked on alone, or it is here
   *   already
   */
  takeNow(id: WorkId, lane: Lane): boolean {
    const way = this.#wayOf(lane);
    const hasPlace = way.taken < way.places && way.waiting.size === 0 && !this.#isAloneDue;
    if (this.#isClosed || way === this.#alone || !hasPlace || this.has(id)) return false;
    this.#arrive(id, way);
    this.#begin(id, way);
    return true;
  }

  /** Begins no more work. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * For how long no work has ended in a way that has some, in milliseconds: that of the way where it is longest. When
   * there is no work here: the time since the last ended.
   */
  get stalledMs(): number {
    const busy = [...this.#ways.values(), this.#alone].filter(way => way.taken + way.waiting.size > 0);
    const since = busy.length === 0 ? this.#movedAt : Math.min(...busy.map(way => way.movedAt));
    return performance.now() - since;
  }

  #wayOf({ way: name, isAlone }: Lane): Way {
    const way = isAlone ? this.#alone : this.#ways.get(name);
    if (way === undefined) throw new Error(`there is no way ${name} to work`);
    return way;
  }

  #arrive(id: WorkId, way: Way): void {
    this.#ids.add(id);
    if (way.taken + way.waiting.size === 0) way.movedAt = performance.now();
  }

  /** Does an id that must be alone run, or wait for the others to end? */
  get #isAloneDue(): boolean {
    return this.#alone.taken > 0 || (this.#alone.waiting.size > 0 && this.#isAlonesTurn);
  }

  /** Begins what may begin now. */
  #admit(): void {
    if (this.#isClosed || this.#alone.taken > 0) return;
    if (!this.#isAloneDue) {
      for (const way of this.#ways.values()) this.#fill(way);
      this.#isAlonesTurn = true;
    }
    // What must be alone is due now; it begins when nothing else is in flight.
    if (this.#inFlight.size > 0 || this.#alone.waiting.size === 0) return;
    this.#isAlonesTurn = false;
    this.#fill(this.#alone);
  }

  #fill(way: Way): void {
    while (way.taken < way.places) {
      const id = way.waiting.next();
      if (id === undefined) return;
      this.#begin(id, way);
    }
  }

  #begin(id: WorkId, way: Way): void {
    way.taken++;
    const work = this.#work(id).finally(() => {
      way.taken--;
      way.movedAt = performance.now();
      this.#movedAt = way.movedAt;
      this.#inFlight.delete(id);
      this.#ids.delete(id);
      this.#admit();
    });
    this.#inFlight.set(id, work);
  }
}

function newWay(places: number): Way {
  return { places, waiting: new Turns(), taken: 0, movedAt: performance.now() };
}
