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
  /** Where the work leads, such as a domain; the destinations of an owner take turns. */
  readonly destination?: string;
  /** Must it be worked on while nothing else is? */
  readonly isAlone: boolean;
}

/** Every way, and how many ids are worked on at once in it. */
export type Places = Readonly<Record<string, number>>;

/** Who may have how many places of a way. */
export interface PlaceLimits {
  /** Places for one destination at a time, 0 while it rests. After it was raised `admit` must be called. */
  perDestination(destination: string): number;
}

/** Ids that wait. Owners take turns; so do the destinations of an owner. */
class Waiting {
  readonly #owners = new Map<string, Turns<WorkId>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add({ owner, destination = '' }: Lane, id: WorkId): void {
    const turns = this.#owners.get(owner) ?? new Turns<WorkId>();
    this.#owners.set(owner, turns);
    turns.add(destination, id);
    this.#size++;
  }

  /** The next id that may have a place. Those that may not keep their turn. */
  next(has: { roomFor(owner: string): boolean; roomTo(destination: string): boolean }): WorkId | undefined {
    for (const [owner, turns] of this.#owners) {
      const id = has.roomFor(owner) ? turns.next(has.roomTo) : undefined;
      if (id === undefined) continue;
      this.#size--;
      this.#owners.delete(owner);
      if (turns.size > 0) this.#owners.set(owner, turns);
      return id;
    }
    return undefined;
  }
}

/** The places of one way, and who waits for them. */
interface Way {
  readonly places: number;
  readonly waiting: Waiting;
  /** Places taken by each owner and for each destination. */
  readonly byOwner: Map<string, number>;
  readonly byDestination: Map<string, number>;
  taken: number;
  /** When work last ended here, or first came after there was none, by the clock of the process. */
  movedAt: number;
}

/**
 * Decides which id is worked on next, and never has one id worked on twice at once. Ids wait by way, and their owners
 * take turns. With limits, an owner has at most as many places as are free, so that there is one for the next owner, and
 * a destination no more than its own: work that hangs holds up neither other owners nor other destinations. Ids that
 * must be alone begin when nothing else is in flight; their turns alternate with those of all others.
 */
export class WorkPlaces {
  readonly #work: (id: WorkId) => Promise<void>;
  readonly #limits: PlaceLimits | null;
  /** Lanes of ids that wait or are in flight. */
  readonly #lanes = new Map<WorkId, Lane>();
  readonly #ways: ReadonlyMap<string, Way>;
  readonly #alone: Way = newWay(1);
  #isAlonesTurn = true;
  readonly #inFlight = new Map<WorkId, Promise<void>>();
  #movedAt = performance.now();
  #isClosed = false;

  /** @param work does the work of an id; never rejects */
  constructor(places: Places, work: (id: WorkId) => Promise<void>, limits: PlaceLimits | null = null) {
    this.#work = work;
    this.#limits = limits;
    this.#ways = new Map(Object.entries(places).map(([way, count]) => [way, newWay(count)]));
  }

  /** What is being worked on. */
  get inFlight(): ReadonlyMap<WorkId, Promise<void>> {
    return this.#inFlight;
  }

  /** Does it wait here, or is it in flight? */
  has(id: WorkId): boolean {
    return this.#lanes.has(id);
  }

  /** Works on these ids, each when its turn has come. Those that are here already are skipped. */
  add(ids: Iterable<readonly [WorkId, Lane]>): void {
    for (const [id, lane] of ids) {
      if (this.#isClosed || this.has(id)) continue;
      const way = this.#wayOf(lane);
      this.#arrive(id, way, lane);
      way.waiting.add(lane, id);
    }
    this.admit();
  }

  /**
   * Begins work on an id at once.
   * @returns false if there is no free place for its lane, the id must be worked on alone, or it is here already
   */
  takeNow(id: WorkId, lane: Lane): boolean {
    const way = this.#wayOf(lane);
    const { owner, destination = '' } = lane;
    const hasRoom = this.#hasRoomFor(way, owner) && this.#hasRoomTo(way, destination);
    // What waits although there are places may not have them.
    const hasPlace = way.taken < way.places && !this.#isAloneDue && hasRoom;
    if (this.#isClosed || way === this.#alone || !hasPlace || this.has(id)) return false;
    this.#arrive(id, way, lane);
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

  #arrive(id: WorkId, way: Way, lane: Lane): void {
    this.#lanes.set(id, lane);
    if (way.taken + way.waiting.size === 0) way.movedAt = performance.now();
  }

  /** Does an id that must be alone run, or wait for the others to end? */
  get #isAloneDue(): boolean {
    return this.#alone.taken > 0 || (this.#alone.waiting.size > 0 && this.#isAlonesTurn);
  }

  /** Begins what may begin now. */
  admit(): void {
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

  #hasRoomFor({ places, taken, byOwner }: Way, owner: string): boolean {
    return this.#limits === null || (byOwner.get(owner) ?? 0) < places - taken;
  }

  #hasRoomTo({ byDestination }: Way, destination: string): boolean {
    return (
      this.#limits === null ||
      (byDestination.get(destination) ?? 0) < this.#limits.perDestination(destination)
    );
  }

  #fill(way: Way): void {
    const room = {
      roomFor: (owner: string) => this.#hasRoomFor(way, owner),
      roomTo: (destination: string) => this.#hasRoomTo(way, destination),
    };
    while (way.taken < way.places) {
      const id = way.waiting.next(room);
      if (id === undefined) return;
      this.#begin(id, way);
    }
  }

  #begin(id: WorkId, way: Way): void {
    const { owner = '', destination = '' } = this.#lanes.get(id) ?? {};
    way.taken++;
    count(way.byOwner, owner, 1);
    count(way.byDestination, destination, 1);
    const work = this.#work(id).finally(() => {
      way.taken--;
      count(way.byOwner, owner, -1);
      count(way.byDestination, destination, -1);
      way.movedAt = performance.now();
      this.#movedAt = way.movedAt;
      this.#inFlight.delete(id);
      this.#lanes.delete(id);
      this.admit();
    });
    this.#inFlight.set(id, work);
  }
}

function newWay(places: number): Way {
  return {
    places,
    waiting: new Waiting(),
    byOwner: new Map(),
    byDestination: new Map(),
    taken: 0,
    movedAt: performance.now(),
  };
}

function count(counts: Map<string, number>, key: string, by: number): void {
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
