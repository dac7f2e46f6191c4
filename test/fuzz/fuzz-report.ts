/** The input of a fuzzer. */
export interface FuzzOptions {
  /** The same seed and count always make the same inputs. */
  readonly seed: number;
  readonly count: number;
  /** After this time no new input is begun. */
  readonly seconds: number;
  /** Called now and then with a line about the progress. */
  readonly report: (line: string) => void;
}

/** The result of a fuzzer. */
export interface FuzzReport {
  /** Inputs that were tried. */
  readonly tried: number;
  /** Broken invariants, each with what is needed to reproduce it. */
  readonly failures: readonly string[];
  /** Other facts worth reporting. */
  readonly figures: Readonly<Record<string, number>>;
}
