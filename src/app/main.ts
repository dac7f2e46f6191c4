import { writeTo } from '../cli/output.js';
import { runCli } from '../cli/program.js';
import { type Config, loadConfig } from '../config/load-config.js';
import { readClock } from '../ops/read-clock.js';
import { packageVersion } from './version.js';

/**
 * The command line, with the daemon as its command `serve`. `bin/postern` runs it.
 * @param argv arguments after the program's name
 * @returns the exit code
 */
export function main(argv: readonly string[]): Promise<number> {
  // What we and our Redis make holds mail and keys: it is for the owner alone.
  process.umask(0o077);
  return runCli(argv, {
    serve: async ({ config, configFile }) => {
      const { serve } = await import('./serve.js');
      return serve({ config, reload: () => reloadConfig(configFile) });
    },
    readClock,
    outside: async () => (await import('./outside.js')).outside,
    certificates: async () => (await import('./certificate-tools.js')).certificateTools,
    openIndex: async store => (await import('./open-index.js')).openIndex(store),
    memoryNeeds: async config => (await import('./memory.js')).memoryNeeds(config),
    version: packageVersion(),
    stdin: () => process.stdin,
    stdout: writeTo(process.stdout),
    stderr: writeTo(process.stderr),
    terminals: { stdout: process.stdout.isTTY === true, stderr: process.stderr.isTTY === true },
    env: process.env,
    cwd: process.cwd(),
  });
}

/** Reads the configuration again; null when it is not valid. */
function reloadConfig(file: string | null): Config | null {
  const loaded = loadConfig({ env: process.env, cwd: process.cwd(), ...(file === null ? {} : { file }) });
  return loaded.ok ? loaded.config : null;
}
