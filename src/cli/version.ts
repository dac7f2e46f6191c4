import type { Command } from 'commander';
import { answer } from './outcome.js';
import type { Cli } from './run-command.js';

/** `postern version`. */
export function addVersionCommand(program: Command, cli: Cli): void {
  const { version } = cli.deps;
  program
    .command('version')
    .description('show the version')
    .action(() => cli.plain(() => answer({ version }, `postern ${version}\n`)));
}
