import type { Command } from 'commander';
import type { Delivery } from '../../contract/deliveries.js';
import type { SentMetadata } from '../../contract/sent.js';
import type { Mailbox } from '../../domain/message-parts.js';
import { getSentDetail } from '../../usecases/mailbox/read-message.js';
import { listDeliveries } from '../../usecases/sending/list-deliveries.js';
import { ADMIN } from '../../usecases/shared/callers.js';
import type { Box } from '../context.js';
import { addListOptions, type ListOptions, listNamed } from '../mailbox/message-list.js';
import { type Answer, answer, failed, orMissing } from '../outcome.js';
import { formatBytes, parseWhole, printable, printableText, renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

/** `postern sent`: what was sent, and what became of it. */
export function addSentCommands(program: Command, cli: Cli): void {
  const sent = program.command('sent').description('messages: sent copies, and what became of them');

  addListOptions(
    sent
      .command('list')
      .description('list the sent copies of an inbox that meet every condition given')
      .argument('<inbox>', 'address or id'),
  ).action((inbox: string, options: ListOptions) => cli.read(box => list(cli, box, inbox, options)));

  sent
    .command('show')
    .description('show a sent copy with its content, and what became of it for each recipient')
    .argument('<message_id>', 'id of the sent message')
    .action((messageId: string) => cli.read(box => show(box, messageId)));
}

async function list(cli: Cli, box: Box, named: string, options: ListOptions): Promise<Answer> {
  const page = await listNamed<SentMetadata>(cli, box, 'sent', named, options);
  const { messages, next_cursor } = page;
  const columns = ['id', 'created_at', 'status', 'error_code', 'recipient_count', 'labels'];
  const rows = messages.map(message => ({ ...message, labels: message.labels.join(', ') }));
  const table = renderTable(rows, columns, 'No sent messages.');
  const more = next_cursor === null ? '' : `There are more: add --cursor ${next_cursor}\n`;
  return answer(page, table + more);
}

interface SentDetail extends SentMetadata {
  readonly submission: {
    readonly from: Mailbox;
    readonly to: readonly Mailbox[];
    readonly cc: readonly Mailbox[];
    readonly bcc: readonly Mailbox[];
    readonly subject: string;
    readonly text: string;
    readonly html?: string;
    readonly attachments: readonly {
      readonly filename: string;
      readonly type: string;
      readonly content: string;
    }[];
  };
}

async function show(box: Box, messageId: string): Promise<Answer> {
  const missing = failed(
    'not_found',
    `There is no sent message ${messageId}. "postern sent list INBOX" shows what there is.`,
  );
  const input = { ...ADMIN, messageId };
  const { bytes } = await orMissing(missing, () => getSentDetail(box, input));
  const message = await parseWhole<SentDetail>(bytes);
  const { deliveries } = await orMissing(missing, () => listDeliveries(box, input));
  return answer({ ...message, deliveries }, renderSent(message, deliveries));
}

function renderSent({ submission, labels, ...facts }: SentDetail, deliveries: readonly Delivery[]): string {
  const { from, to, cc, bcc, subject, text, attachments } = submission;
  const header = {
    from: formatMailboxes([from]),
    to: formatMailboxes(to),
    cc: formatMailboxes(cc),
    bcc: formatMailboxes(bcc),
    subject,
  };
  const files = attachments.map(
    ({ filename, type, content }) =>
      `Attachment: ${printable(filename)}, ${type}, ${formatBytes(Buffer.byteLength(content, 'base64'))}\n`,
  );
  return [
    renderFields({ ...facts, labels: labels.join(', ') || null }),
    renderDeliveries(facts.id, deliveries),
    renderFields(header),
    `${printableText(text).trimEnd()}\n`,
    files.join(''),
  ]
    .filter(part => part !== '')
    .join('\n');
}

function renderDeliveries(id: string, deliveries: readonly Delivery[]): string {
  const columns = ['recipient', 'state', 'attempts', 'updated_at', 'next_attempt_at', 'host', 'code'];
  return `${renderTable(deliveries, columns, '')}"postern queue show ${id}" tells more.\n`;
}

function formatMailboxes(mailboxes: readonly Mailbox[]): string | null {
  const formatted = mailboxes.map(({ address, name }) =>
    name === undefined ? address : `${name} <${address}>`,
  );
  return formatted.length === 0 ? null : formatted.join(', ');
}
