import { exampleOf, type NamedKey } from './key-list.js';
import { renderToml } from './texts.js';

/** One thing that is wrong with the configuration, and how to correct it. */
export interface ConfigProblem {
  /** A file with a key or with line and column, an environment variable, or a missing key. */
  readonly where: string;
  /** What is wrong; never shows the value of a secret. */
  readonly what: string;
  /** What to do about it. */
  readonly fix: string;
}

/** A problem on one line, without a line end. */
export function formatProblem(problem: ConfigProblem): string {
  return `${problem.where}: ${problem.what}. ${problem.fix}`;
}

/** Advice on a wrong value: `Give a port: 1 to 65535, or 0 for any free port.` */
export function adviceFor(key: NamedKey, instead?: string): string {
  if (instead !== undefined) return `Write ${JSON.stringify(instead)}.`;
  const { name, allowed } = key.type;
  return `Give ${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}${allowed === '' ? '' : `: ${allowed}`}.`;
}

/** Advice on a missing key. */
export function howToSet(key: NamedKey): string {
  const example = `${key.name} = ${renderToml(exampleOf(key))}`;
  return `Set it in [${key.section}], as in ${example}, or with ${key.variable}.`;
}
