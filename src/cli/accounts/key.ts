import type { Command } from 'commander';
import { listAccounts } from '../../usecases/accounts/accounts.js';
import {
  type ApiKeyView,
  createKey,
  listAccountKeys,
  revokeKeyById,
} from '../../usecases/accounts/api-keys.js';
import type { Box } from '../context.js';
import { accountNamed } from '../named.js';
import { type Answer, answer, answerWith, failed, orMissing } from '../outcome.js';
import { renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

/** `postern key`: the credentials with which agents reach the inboxes of an account. */
export function addKeyCommands(program: Command, cli: Cli): void {
  const key = program.command('key').description('keys: the credentials of agents');

  key
    .command('create')
    .description('make a key; its credential is shown this once')
    .requiredOption('--account <email>', 'email address or id of the account')
    .option('--name <name>', 'what the key is for')
    .action((options: { account: string; name?: string }) =>
      cli.change(async box => {
        const account = accountNamed(box, options.account);
        const created = await createKey(box, { account: account.id, name: options.name });
        return answerWith(
          created,
          value =>
            `${renderFields(value)}Keep the credential: only its hash is stored, and it is never shown again.\n`,
        );
      }),
    );

  key
    .command('list')
    .description('list keys, revoked ones included')
    .option('--account <email>', 'only those of this account (email address or id)')
    .action((options: { account?: string }) => cli.read(box => listKeys(box, options.account)));

  key
    .command('revoke')
    .description('cut a key off at once and for good')
    .argument('<key_id>', 'id of the key, from "postern key list"')
    .action((keyId: string) =>
      cli.change(async box => {
        const missing = failed('not_found', `There is no key ${keyId}. "postern key list" shows them all.`);
        return answerWith(await orMissing(missing, () => revokeKeyById(box, keyId)), renderFields);
      }),
    );
}

function listKeys(box: Box, account: string | undefined): Answer {
  const keys: ApiKeyView[] = [];
  const ids = account === undefined ? listAccounts(box).map(view => view.account_id) : [];
  if (account !== undefined) ids.push(accountNamed(box, account).id);
  for (const id of ids) keys.push(...listAccountKeys(box, id));
  const columns = ['key_id', 'account_id', 'name', 'created_at', 'revoked_at'];
  return answer({ keys }, renderTable(keys, columns, 'No keys.'));
}
