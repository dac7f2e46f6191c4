import { type Command, Option } from 'commander';
import { CursorCodec } from '../domain/cursor.js';
import type { Result } from '../domain/errors.js';
import { normaliseFilter } from '../domain/message-filter.js';
import { getMeta } from '../store/meta.js';
import { deleteAnyMessage, restoreAnyMessage, trashAnyMessage } from '../usecases/change-any-message.js';
import { findMessageOwner } from '../usecases/find-message-owner.js';
import { type ListOrder, listMessages } from '../usecases/list-messages.js';
import { getMessageDetail, openRawMessage } from '../usecases/read-message.js';
import { reparseMessage } from '../usecases/reparse-message.js';
import { everyValue, wholeNumber } from './arguments.js';
import type { Box } from './context.js';
import { type MessageDetail, type MessageSummary, renderMessage, renderMessages } from './message-text.js';
import { inboxNamed } from './named.js';
import {
  answer,
  answerWith,
  type ByteSource,
  bytesAnswer,
  type Failed,
  failed,
  type Outcome,
} from './outcome.js';
import { renderFields } from './output.js';
import type { Cli } from './run-command.js';

interface ListOptions {
  readonly label: readonly string[];
  readonly anyLabel: readonly string[];
  readonly withoutLabel: readonly string[];
  readonly from?: string;
  readonly recipient?: string;
  readonly subject?: string;
  readonly after?: string;
  readonly before?: string;
  readonly order: ListOrder;
  readonly limit: number;
  readonly cursor?: string;
}

/** `postern message`: received mail. */
export function addMessageCommands(program: Command, cli: Cli): void {
  const message = program.command('message').description('messages: received mail');

  message
    .command('list')
    .description('list the mail of an inbox that meets every condition given')
    .argument('<inbox>', 'address or id')
    .option('--label <name>', 'has this label; repeat it for more, all of which it must have', everyValue, [])
    .option('--any-label <name>', 'has this label or another one given so', everyValue, [])
    .option('--without-label <name>', 'does not have this label; may be repeated', everyValue, [])
    .option('--from <address>', 'is from this address (From header)')
    .option('--recipient <address>', 'is to this address (To, Cc or Bcc header)')
    .option('--subject <text>', 'has this in its subject, letter case aside')
    .option('--after <instant>', 'came at or after this instant, like 2026-01-31T12:00:00Z')
    .option('--before <instant>', 'came before this instant')
    .addOption(new Option('--order <order>', 'newest or oldest first').choices(ORDERS).default('newest'))
    .option('--limit <n>', 'at most so many, up to 100', wholeNumber(1, 100), 20)
    .option('--cursor <cursor>', 'go on where a list ended: its next_cursor')
    .action((inbox: string, options: ListOptions) => cli.read(box => list(box, inbox, options)));

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
      cli.read(box => {
        const input = messageNamed(box, messageId);
        if (!input.ok) return input;
        const raw = openRawMessage(box, input.value);
        return raw.ok ? bytesAnswer(raw.value.bytes) : raw;
      }),
    );

  addChange('trash', 'move a message to Trash, from where it can be restored for some days', (box, id) =>
    trashAnyMessage({ ...box, retentionDays: box.config.trash.retentionDays }, id),
  );
  addChange('restore', 'bring a message back from Trash with its labels', restoreAnyMessage);
  addChange('delete', 'delete a message for good, live or in Trash', deleteAnyMessage);
  addChange('reparse', 'have a message parsed again; the daemon takes it up within a minute', reparseMessage);

  function addChange(
    name: string,
    description: string,
    change: (box: Box, messageId: string) => Promise<Result<object>>,
  ): void {
    message
      .command(name)
      .description(description)
      .argument('<message_id>', 'id of the message')
      .action((messageId: string) =>
        cli.change(async box => {
          const changed = await change(box, messageId);
          const isMissing = !changed.ok && changed.failure.code === 'not_found';
          return isMissing ? noSuchMessage(messageId) : answerWith(changed, renderFields);
        }),
      );
  }
}

const ORDERS: readonly ListOrder[] = ['newest', 'oldest'];

function list(box: Box, named: string, options: ListOptions): Outcome {
  const inbox = inboxNamed(box, named);
  if (!inbox.ok) return inbox;
  const filter = normaliseFilter(
    { all: options.label, any: options.anyLabel, none: options.withoutLabel },
    options,
  );
  if (!filter.ok) return filter;
  const { accountId, id: inboxId } = inbox.value;
  const cursors = new CursorCodec(box.store.read(reader => getMeta(reader, 'identity'))?.cursorSecret ?? '');
  const page = listMessages(
    { store: box.store, cursors },
    {
      accountId,
      inboxId,
      kind: 'received',
      filter: filter.value,
      order: options.order,
      limit: options.limit,
      cursor: options.cursor ?? null,
    },
  );
  if (!page.ok) return page;
  const messages = page.value.summaries.map(bytes => JSON.parse(bytes.toString('utf8')) as MessageSummary);
  return answer(
    { messages, next_cursor: page.value.nextCursor },
    renderMessages(messages, page.value.nextCursor),
  );
}

async function show(box: Box, messageId: string, isJson: boolean): Promise<Outcome> {
  const input = messageNamed(box, messageId);
  if (!input.ok) return input;
  const detail = getMessageDetail(box, input.value);
  if (!detail.ok) return detail;
  if (isJson) return bytesAnswer(withLineEnd(detail.value.bytes));
  const parts: Uint8Array[] = [];
  for await (const part of detail.value.bytes) parts.push(part);
  const message = JSON.parse(Buffer.concat(parts).toString('utf8')) as MessageDetail;
  return answer(message, renderMessage(message));
}

/** A message as its owner asks for it. */
function messageNamed(box: Box, messageId: string) {
  const owner = box.store.read(reader => findMessageOwner(reader, messageId));
  return owner.ok
    ? ({ ok: true, value: { accountId: owner.value, messageId } } as const)
    : noSuchMessage(messageId);
}

function noSuchMessage(messageId: string): Failed {
  return failed(
    'not_found',
    `There is no message ${messageId}. "postern message list INBOX" shows what there is.`,
  );
}

async function* withLineEnd(bytes: ByteSource): AsyncGenerator<Uint8Array> {
  yield* bytes;
  yield Buffer.from('\n');
}
