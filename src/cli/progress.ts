import type { CliDependencies } from './dependencies.js';

const WIDTH = 30;
/** A terminal is not written to more often. */
const PAUSE_MS = 100;

/** Shows on a terminal how far a long command is; where nobody watches, nothing. */
export class ProgressBar {
  readonly #deps: Pick<CliDependencies, 'stderr' | 'isWatched'>;
  #shownAt = Number.NEGATIVE_INFINITY;
  #label = '';
  #isShown = false;

  constructor(deps: Pick<CliDependencies, 'stderr' | 'isWatched'>) {
    this.#deps = deps;
  }

  /** @param total null where nobody knows how much there is */
  show(label: string, done: number, total: number | null): void {
    if (this.#deps.isWatched !== true) return;
    const now = performance.now();
    if (label === this.#label && now - this.#shownAt < PAUSE_MS) return;
    this.#shownAt = now;
    this.#label = label;
    this.#isShown = true;
    const share = total === null || total === 0 ? null : Math.min(1, done / total);
    const filled = Math.round((share ?? 0) * WIDTH);
    const bar =
      share === null ? '' : ` [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${percent(share)}`;
    this.#write(`\r\u001b[K${label}${bar}`);
  }

  /** Takes it off the terminal. */
  clear(): void {
    if (this.#isShown) this.#write('\r\u001b[K');
    this.#isShown = false;
  }

  #write(text: string): void {
    // A terminal that is gone must not end the command.
    this.#deps.stderr(text).catch(() => {});
  }
}

function percent(share: number): string {
  return `${String(Math.floor(100 * share)).padStart(3)} %`;
}
