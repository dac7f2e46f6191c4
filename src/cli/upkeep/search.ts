import type { Command } from 'commander';
import {
  MAX_WAITING,
  readSearchStatus,
  rebuildIndexes,
  type SearchStatus,
} from '../../usecases/search/search-admin.js';
import { accountNamed } from '../named.js';
import { answerWith } from '../outcome.js';
import { formatDuration, renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

const HELP = `
Each account has a file of words in store.path/search. It holds nothing that the store does not hold: it may be deleted
at any moment, and needs no backup. The daemon makes it anew, in the background, when it is missing or damaged. Until it
is complete, searches of that account are answered with content_unavailable; everything else goes on.
`;

/** `postern search`: the index by which mail is found by its words. */
export function addSearchCommands(program: Command, cli: Cli): void {
  const search = program.command('search').description('the index by which mail is found by its words');
  search
    .command('status')
    .description('show how far the search index is; works with and without a daemon')
    .argument('[account]', 'email address or id (default: all accounts)')
    .addHelpText('after', HELP)
    .action((account: string | undefined) =>
      cli.read(box => {
        const accountId = account === undefined ? null : accountNamed(box, account).id;
        return answerWith(readSearchStatus(box, accountId), renderStatus);
      }),
    );
  search
    .command('rebuild')
    .description('have the search index made anew from the stored mail')
    .argument('[account]', 'email address or id (default: all accounts)')
    .addHelpText('after', HELP)
    .action((account: string | undefined) =>
      cli.change(async box => {
        const accountId = account === undefined ? null : accountNamed(box, account).id;
        return answerWith(await rebuildIndexes(box, accountId), renderFields);
      }),
    );
}

function renderStatus(status: SearchStatus): string {
  const fields = renderFields({ accounts: status.accounts, waiting: waitingLine(status) });
  if (status.rebuilding.length === 0) return fields;
  return `${fields}\nmade anew:\n${renderTable(status.rebuilding, ['account_id', 'since', 'messages', 'reason'], '')}`;
}

/** One line about what the indexes do not know yet. */
export function waitingLine({ waiting, oldest_age_s }: SearchStatus): string {
  const count = waiting >= MAX_WAITING ? `${MAX_WAITING} or more` : String(waiting);
  return waiting === 0 || oldest_age_s === null ? count : `${count}, for ${formatDuration(oldest_age_s)}`;
}
