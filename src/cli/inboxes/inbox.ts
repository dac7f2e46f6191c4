import type { Command } from 'commander';
import type { Inbox } from '../../contract/inboxes.js';
import { Refusal } from '../../domain/errors.js';
import { listAccounts } from '../../usecases/accounts/accounts.js';
import { createInbox } from '../../usecases/inboxes/create-inbox.js';
import {
  deleteInbox,
  listInboxes,
  releaseInboxAddress,
  updateInbox,
} from '../../usecases/inboxes/inboxes.js';
import { ADMIN } from '../../usecases/shared/callers.js';
import type { Box } from '../context.js';
import { accountNamed, inboxNamed, noSuchInbox } from '../named.js';
import { type Answer, answer, answerWith, failed, orMissing } from '../outcome.js';
import { renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

interface CreateOptions {
  readonly account: string;
  readonly domain?: string;
  readonly name?: string;
  readonly senderName?: string;
}

interface RenameOptions {
  readonly name?: string;
  readonly senderName?: string;
}

/** `postern inbox`: the addresses that agents receive mail at. */
export function addInboxCommands(program: Command, cli: Cli): void {
  const inbox = program.command('inbox').description('inboxes: the addresses that agents receive mail at');

  inbox
    .command('create')
    .description('make an inbox, by the rules that hold for agents')
    .argument('<local_part>', 'what stands before the @')
    .requiredOption('--account <email>', 'email address or id of the account that will own it')
    .option('--domain <domain>', 'one of mail.domains; the first by default')
    .option('--name <name>', 'what the inbox is for')
    .option('--sender-name <name>', 'display name on the mail it sends')
    .action((localPart: string, options: CreateOptions) =>
      cli.change(box => create(box, localPart, options)),
    );

  inbox
    .command('list')
    .description('list inboxes')
    .option('--account <email>', 'only those of this account (email address or id)')
    .action((options: { account?: string }) =>
      cli.read(box => (options.account === undefined ? listAll(box) : listOf(box, options.account))),
    );

  inbox
    .command('rename')
    .description('change the names of an inbox; "" clears a name. Its address never changes')
    .argument('<inbox>', 'address or id')
    .option('--name <name>', 'what the inbox is for')
    .option('--sender-name <name>', 'display name on the mail it sends')
    .action((named: string, options: RenameOptions) => cli.change(box => rename(box, named, options)));

  inbox
    .command('release')
    .description(
      'give the address of a deleted inbox free again: mail that is meant for its old holder reaches whoever takes it next',
    )
    .argument('<address>', 'retired address')
    .action((named: string) =>
      cli.change(async box => {
        const released = await orMissing(
          failed('not_found', `No deleted inbox had the address ${named}.`),
          () => releaseInboxAddress(box, named),
        );
        return answer({ ...released, status: 'released' }, `${released.address} can be taken again.`);
      }),
    );

  inbox
    .command('delete')
    .description('delete an inbox with all its mail, and retire its address for ever')
    .argument('<inbox>', 'address or id')
    .action((named: string) =>
      cli.change(async box => {
        const deleted = await orMissing(noSuchInbox(named), () =>
          deleteInbox(box, { ...ADMIN, inboxId: named }),
        );
        return answerWith(deleted, renderFields);
      }),
    );
}

async function create(box: Box, localPart: string, options: CreateOptions): Promise<Answer> {
  const { mail, service } = box.config;
  const account = accountNamed(box, options.account);
  const deps = {
    ...box,
    domains: mail.domains,
    reservedLocalParts: mail.reservedLocalParts,
    increaseRequest: service.increaseRequest,
    policyUrl: service.policyUrl,
  };
  const { domain, name, senderName } = options;
  try {
    const created = await createInbox(deps, {
      accountId: account.id,
      local_part: localPart,
      domain,
      name,
      sender_name: senderName,
    });
    return answerWith(created, renderFields);
  } catch (error) {
    if (!(error instanceof Refusal) || error.failure.code !== 'inbox_limit_reached') throw error;
    const advice = `Give it more: postern allowance set --account ${account.email} --inboxes N`;
    throw new Refusal({ ...error.failure, message: `${error.failure.message} ${advice}` });
  }
}

const COLUMNS = ['id', 'address', 'name', 'sender_name', 'created_at'];

function listOf(box: Box, account: string): Answer {
  const named = accountNamed(box, account);
  return answerWith(listInboxes(box, named.id), ({ inboxes, inbox_allowance: { used, allowance } }) => {
    return `${renderTable(inboxes, COLUMNS, 'No inboxes.')}${used} of ${allowance} inboxes used\n`;
  });
}

/** Inboxes of every account; each says whose it is. */
function listAll(box: Box): Answer {
  const inboxes: (Inbox & { account_id: string })[] = [];
  for (const { account_id } of listAccounts(box)) {
    const listed = listInboxes(box, accountNamed(box, account_id).id);
    inboxes.push(...listed.inboxes.map(inbox => ({ ...inbox, account_id })));
  }
  return answer({ inboxes }, renderTable(inboxes, [...COLUMNS, 'account_id'], 'No inboxes.'));
}

async function rename(box: Box, named: string, options: RenameOptions): Promise<Answer> {
  const { name, senderName } = options;
  if (name === undefined && senderName === undefined) {
    throw failed('usage', 'Nothing to change: give --name NAME, --sender-name NAME or both.');
  }
  const inbox = inboxNamed(box, named);
  const { accountId, id: inboxId } = inbox;
  return answerWith(
    await updateInbox(box, { accountId, inboxId, name, sender_name: senderName }),
    renderFields,
  );
}
