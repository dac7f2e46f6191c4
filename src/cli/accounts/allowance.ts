import type { Command } from 'commander';
import {
  type AllowanceView,
  listAccounts,
  MAX_ALLOWANCE,
  setAllowance,
  showAllowance,
} from '../../usecases/accounts/accounts.js';
import { wholeNumber } from '../arguments.js';
import type { Box } from '../context.js';
import { accountNamed } from '../named.js';
import { type Answer, answer, answerWith, failed } from '../outcome.js';
import { renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

/** `postern allowance`: how much an account may use. */
export function addAllowanceCommands(program: Command, cli: Cli): void {
  const allowance = program.command('allowance').description('allowances: how much an account may use');

  allowance
    .command('show')
    .description('show what an account may use and uses')
    .option('--account <email>', 'only this account (email address or id)')
    .action((options: { account?: string }) => cli.read(box => show(box, options.account)));

  allowance
    .command('set')
    .description('change what an account may use; takes effect at its next request')
    .requiredOption('--account <email>', 'email address or id of the account')
    .option('--inboxes <n>', 'inboxes it may have', wholeNumber(0, MAX_ALLOWANCE))
    .option('--sends <n>', 'recipient-deliveries in 24 hours', wholeNumber(0, MAX_ALLOWANCE))
    .option('--storage-mib <n>', 'MiB it may store, Trash included', wholeNumber(0, MAX_ALLOWANCE))
    .action((options: { account: string; inboxes?: number; sends?: number; storageMib?: number }) =>
      cli.change(async box => {
        const { inboxes, sends, storageMib } = options;
        if (inboxes === undefined && sends === undefined && storageMib === undefined) {
          throw failed('usage', 'Nothing to set: give --inboxes N, --sends N, --storage-mib N or several.');
        }
        const { id } = accountNamed(box, options.account);
        const allowance = await setAllowance(box, { account: id, inboxes, sends, storageMib });
        return answerWith(allowance, renderAllowance);
      }),
    );
}

function show(box: Box, account: string | undefined): Answer {
  if (account !== undefined) {
    return answerWith(showAllowance(box, accountNamed(box, account).id), renderAllowance);
  }
  const allowances = listAccounts(box).map(({ account_id }) => showAllowance(box, account_id));
  return answer(
    { allowances },
    renderTable(
      allowances.map(flatten),
      ['account_id', 'email', 'inboxes', 'sends', 'storage'],
      'No accounts.',
    ),
  );
}

function renderAllowance(view: AllowanceView): string {
  return renderFields(flatten(view));
}

function flatten({ account_id, email, inboxes, sends, storage_mib: storage }: AllowanceView) {
  return {
    account_id,
    email,
    inboxes: `${inboxes.used} of ${inboxes.allowance} used${origin(inboxes.is_default)}`,
    sends: `${sends.used} of ${sends.allowance} in 24 hours used${origin(sends.is_default)}`,
    storage: `${storage.used} of ${storage.allowance} MiB used${origin(storage.is_default)}`,
  };
}

function origin(isDefault: boolean): string {
  return isDefault ? ' (default)' : '';
}
