import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatProblem } from '../../../src/config/config-problem.js';
import { type Config, type LoadedConfig, loadConfig } from '../../../src/config/load-config.js';
import type { SystemFacts } from '../../../src/config/system-facts.js';

/** Facts of a machine, for known defaults. */
export const FACTS: SystemFacts = { hostname: 'box.example.net', cores: 4, hasIpv6: true };

/** The smallest valid configuration. */
export const MINIMUM = '[mail]\ndomains = ["agents.example.com"]\n';

export interface Given {
  /** The text of the file; when absent there is no file. */
  readonly toml?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly facts?: SystemFacts;
}

/** Loads a configuration from a new temporary folder. */
export function load({ toml, env = {}, facts = FACTS }: Given): LoadedConfig {
  const folder = mkdtempSync(join(tmpdir(), 'postern-config-'));
  try {
    const file = join(folder, 'postern.toml');
    if (toml !== undefined) writeFileSync(file, toml);
    return loadConfig({ env, cwd: folder, lookIn: toml === undefined ? [] : [file], facts });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The configuration; throws when there are problems. */
export function loaded(given: Given): Config {
  const result = load(given);
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.config;
}

/** One line for each problem, without the folder of the file. */
export function problemsOf(given: Given): string[] {
  const result = load(given);
  return result.ok
    ? []
    : result.problems.map(problem => formatProblem(problem).replace(/^.*\/(?=postern\.toml)/, ''));
}
