import type { Command } from 'commander';
import {
  createAccount,
  listAccounts,
  type PermissionChange,
  setPermissions,
  viewAccount,
  warningOfEmail,
} from '../../usecases/accounts/accounts.js';
import { listSignupAnswers } from '../../usecases/accounts/audit.js';
import type { Box } from '../context.js';
import { accountNamed } from '../named.js';
import { type Answer, answer, answerWith } from '../outcome.js';
import { renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

/** `postern account`: the humans whose agents have inboxes here. */
export function addAccountCommands(program: Command, cli: Cli): void {
  const account = program
    .command('account')
    .description('accounts: the humans whose agents have inboxes here');

  account
    .command('create')
    .description('make an account')
    .argument('<email>', 'email address of the human')
    .action((email: string) => cli.change(box => create(box, email), { makesStore: true }));

  account
    .command('list')
    .description('list every account')
    .action(() =>
      cli.read(box => {
        const accounts = listAccounts(box);
        return answer(
          { accounts },
          renderTable(accounts, ['account_id', 'email', 'created_at'], 'No accounts.'),
        );
      }),
    );

  account
    .command('show')
    .description('show one account')
    .argument('<email>', 'email address or account id')
    .action((email: string) =>
      cli.read(box => {
        const view = viewAccount(accountNamed(box, email));
        return answer(view, renderFields(view));
      }),
    );

  account
    .command('answers')
    .description('list what agents said of their coming when a claim of theirs made the account')
    .action(() =>
      cli.read(box => {
        const answers = listSignupAnswers(box);
        const columns = ['email', 'answered_at', 'discovery_source', 'intended_use'];
        return answer({ answers }, renderTable(answers, columns, 'No answers.'));
      }),
    );

  account
    .command('permissions')
    .description('show what the agents of an account may do, or change it; holds from the next request on')
    .requiredOption('--account <email>', 'email address or id of the account')
    .option('--send', 'they may send')
    .option('--no-send', 'they may not send')
    .option('--delete', 'they may delete messages and inboxes, and move messages to Trash')
    .option('--no-delete', 'they may not')
    .option('--restore', 'they may restore from Trash')
    .option('--no-restore', 'they may not restore')
    .action(({ account: named, ...permissions }: PermissionChange & { account: string }) =>
      cli.change(async box => {
        const { id } = accountNamed(box, named);
        return answerWith(await setPermissions(box, { account: id, permissions }), renderFields);
      }),
    );
}

async function create(box: Box, email: string): Promise<Answer> {
  const account = await createAccount(box, email);
  const warning = warningOfEmail(email, box.config.mail.domains);
  return warning === null
    ? answerWith(account, renderFields)
    : answer({ ...account, warning }, `${renderFields(account)}\nWarning: ${warning}\n`);
}
