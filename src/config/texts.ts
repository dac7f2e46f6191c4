import type { RawValue } from './key.js';

const MAX_SHOWN = 80;

/** A refused value for a message: quoted, cut to `MAX_SHOWN` characters, without the credentials of a URL. */
export function quoteValue(raw: unknown): string {
  if (raw === undefined) return 'nothing';
  if (Array.isArray(raw)) return 'a list';
  if (raw instanceof Date) return 'a date';
  if (typeof raw === 'object' && raw !== null) return 'a table';
  const text = typeof raw === 'string' ? withoutCredentials(raw) : String(raw);
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return typeof raw === 'string' ? JSON.stringify(cut) : cut;
}

/** Before the last `@` of an authority there may be a password (RFC 3986 section 3.2.1). */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/.*@/s, '//…@');
}

/** The candidate with the smallest edit distance from `name`; the first of several. */
export function nearestName(name: string, candidates: readonly string[]): string {
  let nearest = '';
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/**
 * The optimal string alignment distance: the number of insertions, deletions, substitutions and swaps of neighbours,
 * when no part is edited twice.
 */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_unused, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const cost = from[i - 1] === to[j - 1] ? 0 : 1;
      let distance = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + cost);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        distance = Math.min(distance, at(beforeLast, j - 2) + 1);
      }
      row.push(distance);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/** A value in TOML. JSON strings are valid TOML basic strings, except for DEL, which TOML wants escaped. */
export function renderToml(value: RawValue): string {
  if (typeof value === 'object') return `[${value.map(renderToml).join(', ')}]`;
  return typeof value === 'string' ? JSON.stringify(value).replaceAll('\x7f', '\\u007f') : String(value);
}

/** Breaks a text into lines of at most `width` characters, each after `prefix`. Words stay whole. */
export function wrapText(text: string, prefix: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && prefix.length + line.length + 1 + word.length > width) {
      lines.push(prefix + line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, prefix + line];
}
