import { Counter, type Metric, type Registry } from 'prom-client';

/** Separates the values of labels in a key; none of them has a line end. */
export const BETWEEN = '\n';

export interface Named {
  readonly name: string;
  readonly help: string;
}

/**
 * Counts by labels. Where things happen only a number in a map is raised; the library, whose counters take many times as
 * long, is told when somebody asks.
 */
export class Tally {
  readonly #counts = new Map<string, number>();

  /**
   * @param known combinations that are there from the start, so that the first one counts as a rise
   */
  constructor(
    registry: Registry,
    { name, help, labels }: Named & { readonly labels: readonly string[] },
    known: readonly (readonly string[])[] = [],
  ) {
    const counts = this.#counts;
    for (const values of known) counts.set(values.join(BETWEEN), 0);
    new Counter({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const [key, count] of counts) this.labels(...key.split(BETWEEN)).inc(count);
      },
    });
  }

  /** @param key values of the labels in their order, with `BETWEEN` between them */
  add(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }
}

/** How values are spread: a histogram without labels, whose buckets are numbers in a row until somebody asks. */
export class Spread {
  readonly #bounds: readonly number[];
  /** Values of each bucket alone; the last are larger than all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(registry: Registry, named: Named, bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
    const get = async () => ({ ...named, type: 'histogram', aggregator: 'sum', values: this.#values(named) });
    // The registry asks a metric for its name and its values, and for nothing else.
    registry.registerMetric({ ...named, type: 'histogram', get } as unknown as Metric);
  }

  add(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at++;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  #values({ name }: Named): object[] {
    let count = 0;
    const buckets = [...this.#bounds.map(String), '+Inf'].map((le, at) => {
      count += this.#counts[at] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, value: this.#sum },
      { metricName: `${name}_count`, labels: {}, value: count },
    ];
  }
}
