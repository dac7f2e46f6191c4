import type { Command } from 'commander';
import { becomeOwnerOf } from '../context.js';
import { type Answer, answer } from '../outcome.js';
import type { Cli } from '../run-command.js';

/** `postern serve`: the daemon, which `app` hands in. */
export function addServeCommand(program: Command, cli: Cli): void {
  program
    .command('serve')
    .description('run the daemon; SIGTERM stops it in order')
    .action(() =>
      cli.plain(async (): Promise<Answer> => {
        const loaded = cli.readConfig();
        becomeOwnerOf(loaded.config.store.path, { makesStore: true });
        const exitCode = await cli.deps.serve({ config: loaded.config, configFile: loaded.file });
        return { kind: 'ended', exitCode };
      }),
    );
}

/** `postern version`. */
export function addVersionCommand(program: Command, cli: Cli): void {
  const { version } = cli.deps;
  program
    .command('version')
    .description('show the version')
    .action(() => cli.plain(() => answer({ version }, `postern ${version}\n`)));
}
