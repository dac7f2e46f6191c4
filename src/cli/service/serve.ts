import type { Command } from 'commander';
import { tryBecomeOwner } from '../context.js';
import { answer, type Outcome } from '../outcome.js';
import type { Cli } from '../run-command.js';

/** `postern serve`: the daemon, which `app` hands in. */
export function addServeCommand(program: Command, cli: Cli): void {
  program
    .command('serve')
    .description('run the daemon; SIGTERM stops it in order')
    .action(() =>
      cli.plain(async (): Promise<Outcome> => {
        const loaded = cli.readConfig();
        if (!loaded.ok) return loaded;
        const refusal = tryBecomeOwner(loaded.config.store.path);
        if (refusal !== null) return refusal;
        const exitCode = await cli.deps.serve({ config: loaded.config, configFile: loaded.file });
        return { ok: true, value: { kind: 'ended', exitCode } };
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
