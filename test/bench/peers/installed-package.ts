import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { outputOf, startChild } from '../child-process.js';

const INSTALL_MS = 120_000;

/**
 * A package that only the bench needs, installed from the registry on first use and kept. Returns its folder in
 * `node_modules`, or the reason why it cannot be installed. It is not a dependency of the product, so it is kept
 * outside of the repository: in BENCH_CACHE, else in the user's own cache, which nobody else can write.
 */
export async function installedPackage(
  name: string,
  version: string,
): Promise<{ folder: string } | { obstacle: string }> {
  const home = join(cacheFolder(), `${name.toLowerCase()}-${version}-node${process.versions.modules}`);
  const folder = join(home, 'node_modules', name);
  if (existsSync(folder)) return { folder };
  const part = `${home}.part-${process.pid}`;
  try {
    mkdirSync(part, { recursive: true, mode: 0o700 });
    const npm = startChild('npm', npmArguments(part, `${name}@${version}`), {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await outputOf(npm, INSTALL_MS);
    // Renamed into place, so that an unfinished install is never used.
    renameSync(part, home);
    return { folder };
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    const why = error instanceof Error ? error.message : String(error);
    return { obstacle: `${name} ${version} cannot be had from the registry (${why})` };
  }
}

function npmArguments(prefix: string, what: string): string[] {
  const lean = [
    '--no-save',
    '--omit=optional',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--fetch-retries=0',
  ];
  return ['install', '--prefix', prefix, ...lean, what];
}

function cacheFolder(): string {
  const { BENCH_CACHE, XDG_CACHE_HOME } = process.env;
  return BENCH_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'postern-bench');
}
