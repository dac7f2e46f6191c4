import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/*
 * Inputs made after public reports of other mail systems. Like the MIME cases they are no part of the repository: in
 * the folder of `casesFolder`, each is a folder in `tried/` with `input.eml` and `expect.json`, which gives right values by
 * their paths in the answer of `getMessage`.
 */

export interface ReportedCase {
  readonly id: string;
  readonly raw: Buffer;
  readonly expect: Readonly<Record<string, unknown>>;
}

/** The reports with a message as input; those that only tell what to do have none. */
export function reportedCases(folder: string): readonly ReportedCase[] {
  const tried = path.join(folder, 'tried');
  return readdirSync(tried).flatMap(id => {
    const [input, sidecar] = [path.join(tried, id, 'input.eml'), path.join(tried, id, 'expect.json')];
    if (!existsSync(input) || !existsSync(sidecar)) return [];
    const { expect } = JSON.parse(readFileSync(sidecar, 'utf8')) as ReportedCase;
    return [{ id, raw: readFileSync(input), expect }];
  });
}

/**
 * What of a message is not as the report has it.
 * @param message the answer of `getMessage`, with the bytes of the first file as `bytes0` in base64
 */
export function problemsOf({ expect }: ReportedCase, message: object): readonly string[] {
  return Object.entries(expect).flatMap(([place, right]) => {
    const found = valueAt(message, place);
    return isRight(found, right)
      ? []
      : [`${place} is ${JSON.stringify(found)} and not ${JSON.stringify(right)}`];
  });
}

function valueAt(message: object, place: string): unknown {
  return place
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], message);
}

/** In place of a value may stand `{any: [...]}`, one of these, or `{match: "..."}`, a regular expression. */
function isRight(found: unknown, right: unknown): boolean {
  if (typeof right === 'object' && right !== null) {
    if ('any' in right) return (right.any as readonly unknown[]).some(one => same(found, one));
    if ('match' in right) return typeof found === 'string' && new RegExp(right.match as string).test(found);
  }
  return same(found, right);
}

/** Equal, where every field that `right` names counts, and line ends at the very end of a text do not. */
function same(found: unknown, right: unknown): boolean {
  if (typeof found === 'string' && typeof right === 'string') return unended(found) === unended(right);
  if (typeof found !== 'object' || typeof right !== 'object' || found === null || right === null) {
    return found === right;
  }
  if (Array.isArray(right) && (!Array.isArray(found) || found.length !== right.length)) return false;
  return Object.entries(right).every(([key, one]) => same((found as Record<string, unknown>)[key], one));
}

function unended(text: string): string {
  return text.replace(/(?:\r?\n)+$/, '');
}
