import type { Command } from 'commander';
import { CursorCodec } from '../domain/cursor.js';
import { getMeta } from '../store/meta.js';
import { findMessageOwner } from '../usecases/find-message-owner.js';
import { listMessages } from '../usecases/list-messages.js';
import { getMessageDetail, openRawMessage } from '../usecases/read-message.js';
import { wholeNumber } from './arguments.js';
import type { Box } from './context.js';
import { type MessageDetail, type MessageSummary, renderMessage, renderMessages } from './message-text.js';
import { inboxNamed } from './named.js';
import { answer, type ByteSource, bytesAnswer, type Failed, failed, type Outcome } from './outcome.js';
import type { Cli } from './run-command.js';

interface ListOptions {
  readonly limit: number;
  readonly cursor?: string;
}

/** `postern message`: received mail. */
export function addMessageCommands(program: Command, cli: Cli): void {
  const message = program.command('message').description('messages: received mail');

  message
    .command('list')
    .description('list the mail of an inbox, newest first')
    .argument('<inbox>', 'address or id')
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
}

function list(box: Box, named: string, { limit, cursor }: ListOptions): Outcome {
  const inbox = inboxNamed(box, named);
  if (!inbox.ok) return inbox;
  const { accountId, id: inboxId } = inbox.value;
  const cursors = new CursorCodec(box.store.read(reader => getMeta(reader, 'identity'))?.cursorSecret ?? '');
  const page = listMessages(
    { store: box.store, cursors },
    { accountId, inboxId, limit, cursor: cursor ?? null },
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
    : (failed(
        'not_found',
        `There is no message ${messageId}. "postern message list INBOX" shows what there is.`,
      ) satisfies Failed);
}

async function* withLineEnd(bytes: ByteSource): AsyncGenerator<Uint8Array> {
  yield* bytes;
  yield Buffer.from('\n');
}
