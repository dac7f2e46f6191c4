import type { MessageAuthentication } from '../../contract/authentication.js';
import type { ParsedAddress, ReceivedContent } from '../../contract/messages.js';
import { formatBytes, printable, printableText, renderFields, renderTable } from '../output.js';

/** What text shows of an entry of a list. */
export interface MessageSummary {
  readonly id: string;
  readonly received_at: string;
  readonly processing_status: string;
  readonly envelope_from: string;
  readonly from?: ParsedAddress | null;
  readonly subject: string | null;
  readonly labels: readonly string[];
}

/** What text shows of a message. */
export interface MessageDetail extends MessageSummary {
  readonly inbox_id: string;
  readonly thread_id: string | null;
  readonly envelope_to: string;
  readonly raw_size: number;
  readonly processed_at: string | null;
  readonly authentication: MessageAuthentication;
  readonly content?: ReceivedContent;
}

export function renderMessages(messages: readonly MessageSummary[], nextCursor: string | null): string {
  const rows = messages.map(message => ({
    id: message.id,
    received_at: message.received_at,
    status: message.processing_status,
    from: message.from === undefined || message.from === null ? sender(message) : formatAddress(message.from),
    subject: message.subject,
    labels: formatLabels(message),
  }));
  const columns = ['id', 'received_at', 'status', 'from', 'subject', 'labels'];
  const table = renderTable(rows, columns, 'No messages.');
  return nextCursor === null ? table : `${table}There are more: add --cursor ${nextCursor}\n`;
}

/** A message as text: its envelope and state, its header fields, its body. */
export function renderMessage(message: MessageDetail): string {
  const { content } = message;
  const facts = {
    id: message.id,
    inbox_id: message.inbox_id,
    thread_id: message.thread_id,
    processing_status: message.processing_status,
    received_at: message.received_at,
    processed_at: message.processed_at,
    labels: formatLabels(message),
    envelope_from: sender(message),
    envelope_to: message.envelope_to,
    raw_size: formatBytes(message.raw_size),
    authentication: printable(`${message.authentication.verdict}: ${message.authentication.reason}`),
  };
  if (content === undefined) {
    return `${renderFields(facts)}\nIts content is not there; "postern message raw ${message.id}" gives the original bytes.\n`;
  }
  return [renderFields(facts), renderFields(headerOf(content)), bodyOf(content), attachmentsOf(content)]
    .filter(part => part !== '')
    .join('\n');
}

function headerOf(content: ReceivedContent): Record<string, string | null> {
  const header: Record<string, string | null> = {
    from: content.from === null ? null : formatAddress(content.from),
    to: formatAddresses(content.to),
    cc: formatAddresses(content.cc),
    reply_to: formatAddresses(content.reply_to),
    date: content.date,
    subject: content.subject,
    message_id: content.message_id,
  };
  return Object.fromEntries(Object.entries(header).filter(([, value]) => value !== null));
}

function bodyOf({ text, html }: ReceivedContent): string {
  if (text !== null) return `${printableText(text).trimEnd()}\n`;
  return html === null ? '' : `(no text, only HTML)\n${printableText(html).trimEnd()}\n`;
}

function attachmentsOf({ attachments }: ReceivedContent): string {
  if (attachments.length === 0) return '';
  const rows = attachments.map(({ id, filename, mime_type, size }) => ({
    attachment: id,
    filename,
    type: mime_type,
    size: formatBytes(size),
  }));
  return renderTable(rows, ['attachment', 'filename', 'type', 'size'], '');
}

/** The null reverse-path is written as SMTP writes it. */
function sender({ envelope_from }: MessageSummary): string {
  return envelope_from === '' ? '<>' : envelope_from;
}

function formatLabels({ labels }: MessageSummary): string | null {
  return labels.length === 0 ? null : labels.join(', ');
}

function formatAddresses(addresses: readonly ParsedAddress[]): string | null {
  return addresses.length === 0 ? null : addresses.map(formatAddress).join(', ');
}

function formatAddress(address: ParsedAddress): string {
  if ('group' in address) {
    return `${printable(address.name)}: ${address.group.map(formatAddress).join(', ')};`;
  }
  return address.name === '' ? address.address : `${address.name} <${address.address}>`;
}
