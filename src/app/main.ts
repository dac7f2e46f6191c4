import { runCli } from '../cli/program.js';
import { serve } from './serve.js';
import { packageVersion } from './version.js';

/**
 * The command line with the daemon behind `serve`: what `bin/postern` runs.
 * @param argv arguments behind the program's name
 * @returns the exit code
 */
export function main(argv: readonly string[]): Promise<number> {
  return runCli(argv, {
    serve,
    version: packageVersion(),
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
  });
}
