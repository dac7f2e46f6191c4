import type { CliDependencies } from './dependencies.js';
import { formatBytes, formatDuration } from './output.js';

const WIDTH = 24;
/** How often the bar is drawn at most. */
const DRAW_MS = 100;

/**
 * A bar on a terminal, of work whose size in bytes is known. Where nobody watches (no terminal, `--json`) nothing is
 * drawn.
 *
 *     const progress = startProgress(cli.deps, { of: 'import', bytes: 10_000, isShown: !cli.isJson() });
 *     progress.add(100, '3 messages');
 *     await progress.end();
 */
export interface Progress {
  /** So many bytes more are done. */
  add(bytes: number, note?: string): void;
  /** Another step: so much of so much is done of it; null where nobody knows how much there is. */
  show(step: string, done: number, total: number | null): void;
  /** Wipes the bar away, so that the answer has the line. */
  end(): Promise<void>;
}

export interface ProgressOptions {
  /** What goes on, in a word. */
  readonly of: string;
  /** In all; null when it is not known: then what is done is told without a bar. */
  readonly bytes: number | null;
  readonly isShown: boolean;
}

export function startProgress(
  { stderr, terminals }: Pick<CliDependencies, 'stderr' | 'terminals'>,
  { of, bytes: total, isShown }: ProgressOptions,
): Progress {
  let step = { of, startedMs: performance.now() };
  let done = 0;
  let drawnMs = Number.NEGATIVE_INFINITY;
  let isThere = false;
  let last: Promise<void> = Promise.resolve();
  const isDrawn = isShown && terminals.stderr;
  const draw = (total: number | null, note: string): void => {
    const nowMs = performance.now();
    if (!isDrawn || nowMs - drawnMs < DRAW_MS) return;
    drawnMs = nowMs;
    isThere = true;
    // Whoever closes the terminal does not end the work.
    last = stderr(`\r\x1b[K${barOf(step.of, done, total, nowMs - step.startedMs, note)}`).catch(() => {});
  };
  return {
    add(bytes, note = '') {
      done += bytes;
      draw(total, note);
    },
    show(of, doneOfStep, totalOfStep) {
      if (of !== step.of) {
        step = { of, startedMs: performance.now() };
        drawnMs = Number.NEGATIVE_INFINITY;
      }
      done = doneOfStep;
      draw(totalOfStep, '');
    },
    async end() {
      await last;
      if (isThere) await stderr('\r\x1b[K').catch(() => {});
      isThere = false;
    },
  };
}

/** One line of less than 80 columns. */
export function barOf(
  of: string,
  done: number,
  total: number | null,
  elapsedMs: number,
  note: string,
): string {
  if (total === null || total <= 0) return `${of} ${done === 0 ? '' : formatBytes(done)}  ${note}`.trimEnd();
  const part = Math.min(1, done / total);
  const filled = Math.round(part * WIDTH);
  const leftS = part > 0.02 ? Math.round(((elapsedMs / part) * (1 - part)) / 1000) : null;
  const left = leftS === null ? '' : `, ${formatDuration(leftS)} left`;
  const bar = `${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}`;
  return `${of} [${bar}] ${String(Math.floor(part * 100)).padStart(3)}%${left}  ${note}`.trimEnd();
}
