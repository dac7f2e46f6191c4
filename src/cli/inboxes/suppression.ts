import type { Command } from 'commander';
import {
  addSuppression,
  liftSuppression,
  listSuppressions,
  type SuppressionPage,
} from '../../usecases/inboxes/suppressions.js';
import { wholeNumber } from '../arguments.js';
import { accountNamed } from '../named.js';
import { answerWith, failed, orMissing } from '../outcome.js';
import { renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

const MAX_LIMIT = 1000;

const HELP = `
A message to a suppressed address is rejected as a whole (E_RECIPIENT_SUPPRESSED). Letter case makes no difference, a
+tag does. What you add holds for all accounts until you remove it. An entry with an account was learnt from the mail of
that account: a server said that there is no such address (source: delivery, or report when it said so later), or the
recipient complained. It holds for that account alone and lapses after 90 days. A change holds for the next message.
`;

/** `postern suppression`: addresses that nothing is sent to. */
export function addSuppressionCommands(program: Command, cli: Cli): void {
  const suppression = program
    .command('suppression')
    .description('suppression list: addresses that nothing is sent to')
    .addHelpText('after', HELP);

  suppression
    .command('list')
    .description('list suppressed addresses: those for all accounts, then those of each account')
    .option('--account <email>', 'only those of this account (email address or id)')
    .option('--limit <n>', `at most so many, up to ${MAX_LIMIT}`, wholeNumber(1, MAX_LIMIT), 100)
    .option('--cursor <cursor>', 'go on where a list ended: its next_cursor')
    .addHelpText('after', HELP)
    .action(({ account, limit, cursor }: { account?: string; limit: number; cursor?: string }) =>
      cli.read(box => {
        const accountId = account === undefined ? null : accountNamed(box, account).id;
        return answerWith(listSuppressions(box, { limit, cursor: cursor ?? null, accountId }), renderPage);
      }),
    );

  suppression
    .command('add')
    .description('suppress an address for all; one that is on the list gets the new reason')
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
    .option('--account <email>', 'the entry of this account (email address or id), not the one for all')
    .addHelpText('after', HELP)
    .action((address: string, { account }: { account?: string }) =>
      cli.change(async box => {
        const owner = account === undefined ? null : accountNamed(box, account);
        const whom = owner === null ? 'for all accounts' : `for ${owner.email}`;
        const advice =
          owner === null ? ' An entry of an account is removed with --account.' : ' That for all is apart.';
        const missing = failed(
          'not_found',
          `${address === '' ? '""' : address} is not suppressed ${whom}. "postern suppression list" shows what is.${advice}`,
        );
        const lifted = () => liftSuppression(box, address, owner?.id ?? null);
        return answerWith(await orMissing(missing, lifted), renderFields);
      }),
    );
}

function renderPage({ suppressions, next_cursor }: SuppressionPage): string {
  const rows = suppressions.map(entry => ({ ...entry, account: entry.email ?? entry.account_id ?? 'all' }));
  const columns = ['address', 'account', 'source', 'created_at', 'until', 'reason'];
  const table = renderTable(rows, columns, 'Nothing is suppressed.');
  return next_cursor === null ? table : `${table}There are more: add --cursor ${next_cursor}\n`;
}
