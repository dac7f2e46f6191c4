import { exampleOf, type NamedKey } from './key-list.js';
import { renderToml } from './texts.js';

/** One thing that is wrong with the configuration, and the way out. */
export interface ConfigProblem {
  /** A file with key or line and column, an environment variable, or a key that is missing. */
  readonly where: string;
  /** What is wrong. Never holds the value of a secret. */
  readonly what: string;
  /** What to do about it. */
  readonly fix: string;
}

/** A problem in one line, without an end. */
export function formatProblem(problem: ConfigProblem): string {
  return `${problem.where}: ${problem.what}. ${problem.fix}`;
}

/** What a key accepts, as advice: `Give a port: 1 to 65535, or 0 for any free port.` */
export function adviceFor(key: NamedKey, instead?: string): string {
  if (instead !== undefined) return `Write ${JSON.stringify(instead)}.`;
  const { name, allowed } = key.type;
  return `Give ${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}${allowed === '' ? '' : `: ${allowed}`}.`;
}

/** How to set a key that is missing. */
export function howToSet(key: NamedKey): string {
  const example = `${key.name} = ${renderToml(exampleOf(key))}`;
  return `Set it in [${key.section}], as in ${example}, or with ${key.variable}.`;
}
