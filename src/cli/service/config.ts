import type { Command } from 'commander';
import { formatProblem } from '../../config/config-problem.js';
import { configWarnings } from '../../config/config-warnings.js';
import { explainKeys, renderExplanation, renderShown, showConfig } from '../../config/explain.js';
import { answer } from '../outcome.js';
import type { Cli } from '../run-command.js';

/** `postern config`: what is set, what may be set, and whether it is right. */
export function addConfigCommands(program: Command, cli: Cli): void {
  const config = program.command('config').description('the configuration');

  config
    .command('check')
    .description('check file and environment; tells every problem at once, and what is probably not intended')
    .action(() =>
      cli.plain(() => {
        const { config, file } = cli.readConfig();
        const warnings = configWarnings(config);
        const lines = warnings.map(warning => `Warning: ${formatProblem(warning)}\n`);
        const where = file ?? 'environment and defaults, no file';
        return answer(
          { status: 'ok', file, ...(warnings.length === 0 ? {} : { warnings }) },
          `The configuration is right (${where}).\n${lines.join('')}`,
        );
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
