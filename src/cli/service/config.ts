import type { Command } from 'commander';
import { explainKeys, renderExplanation, renderShown, showConfig } from '../../config/explain.js';
import { answer } from '../outcome.js';
import type { Cli } from '../run-command.js';

/** `postern config`: what is set, what may be set, and whether it is right. */
export function addConfigCommands(program: Command, cli: Cli): void {
  const config = program.command('config').description('the configuration');

  config
    .command('check')
    .description('check file and environment; tells every problem at once')
    .action(() =>
      cli.plain(() => {
        const loaded = cli.readConfig();
        const where = loaded.file ?? 'environment and defaults, no file';
        return answer({ status: 'ok', file: loaded.file }, `The configuration is right (${where}).\n`);
      }),
    );

  config
    .command('explain')
    .description('explain every key')
    .action(() => cli.plain(() => answer({ keys: explainKeys() }, renderExplanation())));

  config
    .command('show')
    .description('show the configuration in effect and where each value comes from; secrets stay hidden')
    .action(() =>
      cli.plain(() => {
        const loaded = cli.readConfig();
        const settings = showConfig(loaded.config, loaded.sources);
        return answer({ file: loaded.file, settings }, renderShown(settings));
      }),
    );
}
