import type { Command } from 'commander';
import {
  addSuppression,
  liftSuppression,
  listSuppressions,
  type SuppressionPage,
} from '../../usecases/inboxes/suppressions.js';
import { wholeNumber } from '../arguments.js';
import { answerWith, failed, orMissing } from '../outcome.js';
import { renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

const MAX_LIMIT = 1000;

const HELP = `
A message to a suppressed address is rejected as a whole, whoever sends it (E_RECIPIENT_SUPPRESSED). Letter case
makes no difference, a +tag does. A change holds for the next message.
`;

/** `postern suppression`: addresses that nothing is sent to. */
export function addSuppressionCommands(program: Command, cli: Cli): void {
  const suppression = program
    .command('suppression')
    .description('suppression list: addresses that nothing is sent to')
    .addHelpText('after', HELP);

  suppression
    .command('list')
    .description('list suppressed addresses in alphabetical order')
    .option('--limit <n>', `at most so many, up to ${MAX_LIMIT}`, wholeNumber(1, MAX_LIMIT), 100)
    .option('--cursor <cursor>', 'go on where a list ended: its next_cursor')
    .action(({ limit, cursor }: { limit: number; cursor?: string }) =>
      cli.read(box => answerWith(listSuppressions(box, { limit, cursor: cursor ?? null }), renderPage)),
    );

  suppression
    .command('add')
    .description('suppress an address; one that is on the list gets the new reason')
    .argument('<address>', 'email address')
    .option('--reason <text>', 'why, for whoever reads the list')
    .addHelpText('after', HELP)
    .action((address: string, { reason }: { reason?: string }) =>
      cli.change(async box => answerWith(await addSuppression(box, { address, reason }), renderFields)),
    );

  suppression
    .command('remove')
    .description('take an address off the list: it may be sent to again')
    .argument('<address>', 'email address')
    .action((address: string) =>
      cli.change(async box => {
        const missing = failed(
          'not_found',
          `${address === '' ? '""' : address} is not suppressed. "postern suppression list" shows what is.`,
        );
        return answerWith(await orMissing(missing, () => liftSuppression(box, address)), renderFields);
      }),
    );
}

function renderPage({ suppressions, next_cursor }: SuppressionPage): string {
  const table = renderTable(suppressions, ['address', 'reason', 'created_at'], 'Nothing is suppressed.');
  return next_cursor === null ? table : `${table}There are more: add --cursor ${next_cursor}\n`;
}
