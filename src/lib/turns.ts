/** Waiting items of one owner, in the order in which they came; the first is at `from`. */
interface Line<Item> {
  items: (Item | undefined)[];
  from: number;
}

/** Items already taken are cut off in blocks of this many, because each cut moves the rest. */
const CUT = 1_024;

/**
 * Items that wait, each for its owner. Owners take turns (round robin), and an owner's items keep their order: however
 * many items one owner has, they delay the first item of another by one turn.
 */
export class Turns<Item> {
  /** The owner whose turn is next stands first. Owners without items are not kept. */
  readonly #lines = new Map<string, Line<Item>>();
  #size = 0;

  /** Items that wait. */
  get size(): number {
    return this.#size;
  }

  add(owner: string, item: Item): void {
    const line = this.#lines.get(owner);
    if (line === undefined) this.#lines.set(owner, { items: [item], from: 0 });
    else line.items.push(item);
    this.#size++;
  }

  /** The item that `next` takes next; undefined when nothing waits. */
  get first(): Item | undefined {
    const line = this.#lines.values().next().value;
    return line?.items[line.from];
  }

  /**
   * Takes the first item of the owner whose turn it is, of those that `may` have one now; undefined when none waits.
   * The others keep their places.
   */
  next(may: (owner: string) => boolean = () => true): Item | undefined {
    for (const [owner, line] of this.#lines) if (may(owner)) return this.#take(owner, line);
    return undefined;
  }

  #take(owner: string, line: Line<Item>): Item | undefined {
    const item = line.items[line.from];
    // What was taken must not be kept by the list.
    line.items[line.from] = undefined;
    line.from++;
    this.#size--;
    this.#lines.delete(owner);
    if (line.from === line.items.length) return item;
    if (line.from >= CUT) {
      line.items = line.items.slice(line.from);
      line.from = 0;
    }
    this.#lines.set(owner, line);
    return item;
  }

  /** Takes everything, in turns. */
  *drain(): Generator<Item> {
    for (let item = this.next(); item !== undefined; item = this.next()) yield item;
  }
}
