/** What a module is told to do. */
export interface FuzzOptions {
  /** The same seed and count make the same inputs, whatever else happens. */
  readonly seed: number;
  readonly count: number;
  /** No new input is begun after this time. */
  readonly seconds: number;
  /** Takes a line for the reader now and then. */
  readonly report: (line: string) => void;
}

/** What came of it. */
export interface FuzzReport {
  /** Inputs that were tried. */
  readonly tried: number;
  /** Broken invariants, each with what is needed to try it again; empty when all is well. */
  readonly failures: readonly string[];
  /** What is worth knowing besides. */
  readonly figures: Readonly<Record<string, number>>;
}
