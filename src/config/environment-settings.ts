import type { ConfigProblem } from './config-problem.js';
import { KEY_LIST } from './key-list.js';
import { nearestName } from './nearest-name.js';
import type { Setting, Settings } from './setting.js';

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that are ours and no keys. */
export const OTHER_VARIABLES = [
  { variable: 'POSTERN_CONFIG', doc: 'Configuration file to read, unless --config names one.' },
] as const;

const PREFIX = 'POSTERN_';

/** What the environment sets, and what it sets under our prefix that nobody knows. */
export function environmentSettings(
  environment: Environment,
  cwd: string,
): { settings: Settings; problems: ConfigProblem[] } {
  const settings = new Map<string, Setting>();
  const problems: ConfigProblem[] = [];
  const known = new Map(KEY_LIST.map(key => [key.variable, key]));
  const others: readonly string[] = OTHER_VARIABLES.map(other => other.variable);
  for (const [variable, written] of Object.entries(environment)) {
    if (!variable.startsWith(PREFIX) || written === undefined || others.includes(variable)) continue;
    const key = known.get(variable);
    if (key === undefined) {
      const nearest = nearestName(variable, [...known.keys(), ...others]);
      problems.push({
        where: variable,
        what: 'is not a known environment variable',
        fix: `Did you mean ${nearest}? "postern config explain" lists them all.`,
      });
      continue;
    }
    const source = { kind: 'environment', variable } as const;
    settings.set(key.id, { source, where: variable, raw: key.type.fromText(written), written, folder: cwd });
  }
  return { settings, problems };
}
