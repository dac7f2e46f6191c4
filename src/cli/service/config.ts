import type { Command } from 'commander';
import { formatProblem } from '../../config/config-problem.js';
import { configWarnings } from '../../config/config-warnings.js';
import { explainKeys, renderExplanation, renderShown, showConfig } from '../../config/explain.js';
import type { MemoryPart } from '../dependencies.js';
import { answer } from '../outcome.js';
import { renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

/** `postern config`: what is set, what may be set, and whether it is right. */
export function addConfigCommands(program: Command, cli: Cli): void {
  const config = program.command('config').description('the configuration');

  config
    .command('check')
    .description(
      'check file and environment; tells every problem at once, what is probably not intended, and what memory the daemon may take',
    )
    .action(() =>
      cli.plain(async () => {
        const { config, file } = cli.readConfig();
        const warnings = configWarnings(config);
        const lines = warnings.map(warning => `Warning: ${formatProblem(warning)}\n`);
        const where = file ?? 'environment and defaults, no file';
        const parts = await cli.deps.memoryNeeds(config);
        const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
        return answer(
          { status: 'ok', file, memory: { bytes, parts }, ...(warnings.length === 0 ? {} : { warnings }) },
          `The configuration is right (${where}).\n${lines.join('')}${renderMemory(bytes, parts)}`,
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

/** Whole MiB, so that the parts can be added up. */
function renderMemory(bytes: number, parts: readonly MemoryPart[]): string {
  const rows = [...parts, { part: 'all together', bytes }].map(row => ({
    memory: `${Math.ceil(row.bytes / 2 ** 20)} MiB`,
    part: row.part,
  }));
  return `It may take of memory at most, besides pages of the store:\n${renderTable(rows, ['memory', 'part'], '')}`;
}
