import { type Command, Option } from 'commander';
import { VERDICTS } from '../../contract/authentication.js';
import { reparseMessage } from '../../usecases/inbound/index-message.js';
import { deleteMessage, restoreMessage, trashMessage } from '../../usecases/mailbox/change-messages.js';
import { getMessageDetail, openRawMessage } from '../../usecases/mailbox/read-message.js';
import { ADMIN } from '../../usecases/shared/callers.js';
import type { Box } from '../context.js';
import {
  type Answer,
  answer,
  answerWith,
  bytesAnswer,
  type CommandRefusal,
  failed,
  orMissing,
} from '../outcome.js';
import { parseWhole, renderFields, withLineEnd } from '../output.js';
import type { Cli } from '../run-command.js';
import { addExportCommand } from './message-export.js';
import { addImportCommand } from './message-import.js';
import { addListOptions, type ListOptions, listNamed } from './message-list.js';
import { type MessageDetail, type MessageSummary, renderMessage, renderMessages } from './message-text.js';

/** `postern message`: received mail. */
export function addMessageCommands(program: Command, cli: Cli): void {
  const message = program.command('message').description('messages: received mail');

  addListOptions(
    message
      .command('list')
      .description('list the mail of an inbox that meets every condition given')
      .argument('<inbox>', 'address or id'),
  )
    .addOption(
      new Option(
        '--authentication <verdict>',
        'is proven to be from the domain in From (pass), is not (fail), comes from a domain without a policy (none), or could not be found out (unknown)',
      ).choices(VERDICTS),
    )
    .action((inbox: string, options: ListOptions) => cli.read(box => list(cli, box, inbox, options)));

  message
    .command('show')
    .description('show a message with its content')
    .argument('<message_id>', 'id of the message')
    .action((messageId: string) => cli.read(box => show(box, messageId, cli.isJson())));

  message
    .command('raw')
    .description('write the original bytes of a message to stdout, as they were received (--json or not)')
    .argument('<message_id>', 'id of the message')
    .action((messageId: string) =>
      cli.read(async box => {
        const raw = await orMissing(noSuchMessage(messageId), () => openRawMessage(box, received(messageId)));
        return bytesAnswer(raw.bytes);
      }),
    );

  addImportCommand(message, cli);
  addExportCommand(message, cli);

  addChange('trash', 'move a message to Trash, from where it can be restored for some days', (box, id) =>
    trashMessage({ ...box, retentionDays: box.config.trash.retentionDays }, received(id)),
  );
  addChange('restore', 'bring a message back from Trash with its labels', (box, id) =>
    restoreMessage(box, received(id)),
  );
  addChange('delete', 'delete a message for good, live or in Trash', (box, id) =>
    deleteMessage(box, received(id)),
  );
  addChange('reparse', 'have a message parsed again; the daemon takes it up within a minute', reparseMessage);

  function addChange(
    name: string,
    description: string,
    change: (box: Box, messageId: string) => Promise<object>,
  ): void {
    message
      .command(name)
      .description(description)
      .argument('<message_id>', 'id of the message')
      .action((messageId: string) =>
        cli.change(async box => {
          const changed = await orMissing(noSuchMessage(messageId), () => change(box, messageId));
          return answerWith(changed, renderFields);
        }),
      );
  }
}

async function list(cli: Cli, box: Box, named: string, options: ListOptions): Promise<Answer> {
  const page = await listNamed<MessageSummary>(cli, box, 'received', named, options);
  return answer(page, renderMessages(page.messages, page.next_cursor));
}

async function show(box: Box, messageId: string, isJson: boolean): Promise<Answer> {
  const detail = await orMissing(noSuchMessage(messageId), () =>
    getMessageDetail(box, { ...received(messageId), hasAuthentication: true }),
  );
  if (isJson) return bytesAnswer(withLineEnd(detail.bytes));
  const message = await parseWhole<MessageDetail>(detail.bytes);
  return answer(message, renderMessage(message));
}

/** A received message, whoever owns it. */
function received(messageId: string) {
  return { ...ADMIN, messageId, kind: 'received' } as const;
}

function noSuchMessage(messageId: string): CommandRefusal {
  return failed(
    'not_found',
    `There is no message ${messageId}. "postern message list INBOX" shows what there is.`,
  );
}
