/** The result of a bench: a table of figures, and how they compare with their targets. */
export interface Report {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
  readonly comparisons: readonly Comparison[];
}

export interface Comparison {
  readonly what: string;
  readonly measured: string;
  readonly target: string;
  /** Null if it could not be measured. */
  readonly isMet: boolean | null;
}

/** A bench that cannot run here says why. */
export function skipped(why: string): Report {
  return { columns: ['left out'], rows: [[why]], notes: [], comparisons: [] };
}

const COMPARISON_COLUMNS = ['what', 'measured', 'target', ''];

export function renderReport(title: string, report: Report): string {
  const notes = report.notes.map(note => `  ${note}\n`).join('');
  return `\n${title}\n${renderTable(report.columns, report.rows)}${notes}`;
}

export function renderComparisons(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ what, measured, target, isMet }) => [
    what,
    measured,
    target,
    isMet === null ? 'not measured' : isMet ? 'met' : 'missed',
  ]);
  return `\nagainst the targets\n${renderTable(COMPARISON_COLUMNS, rows)}`;
}

/** Compares a figure with the bound that it must reach or must not exceed; null if it was not measured. */
export function compare(
  what: string,
  value: number | null,
  bound: { readonly atLeast: number } | { readonly atMost: number },
  words: { readonly unit: string; readonly than?: string; readonly digits?: number },
): Comparison {
  const { unit, than = '', digits = 1 } = words;
  const [sign, limit] = 'atLeast' in bound ? ['>=', bound.atLeast] : ['<=', bound.atMost];
  const isMet = value === null ? null : sign === '>=' ? value >= limit : value <= limit;
  return {
    what,
    measured: value === null ? '-' : `${value.toFixed(digits)}${unit}`,
    target: `${sign} ${limit}${unit}${than === '' ? '' : ` ${than}`}`,
    isMet,
  };
}

/** 12,345 */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function times(value: number, of: number | null): string {
  return of === null ? '-' : `${(value / of).toFixed(2)}x`;
}

function renderTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((name, at) => Math.max(name.length, ...rows.map(row => (row[at] ?? '').length)));
  const line = (cells: readonly string[]): string => {
    // The first column is text, the others are figures.
    const padded = cells.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    );
    return `  ${padded.join('  ').trimEnd()}\n`;
  };
  return line(columns) + line(widths.map(width => '-'.repeat(width))) + rows.map(line).join('');
}
