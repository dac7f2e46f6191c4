import { cleanText } from './clean-text.js';
import type { ParsedAddress, ParsedMailbox, ReceivedContent } from './content.js';
import { escapeHtml } from './escape-html.js';
import { toMailDate } from './instants.js';

/** What a forward says of the message in it. Bcc is not among it (specification, ForwardInput rule 3). */
export type ForwardedHeader = Pick<ReceivedContent, 'from' | 'date' | 'subject' | 'to' | 'cc'>;

const TITLE = '---------- Forwarded message ----------';

/** The header block in plain text, without a line end after it. */
export function headerAsText(header: ForwardedHeader): string {
  return [TITLE, ...fieldsOf(header).map(([name, value]) => `${name}: ${value}`)].join('\n');
}

export function headerAsHtml(header: ForwardedHeader): string {
  const fields = fieldsOf(header).map(([name, value]) => `<b>${name}:</b> ${escapeHtml(value)}`);
  return `<p>${[TITLE, ...fields].join('<br>\n')}</p>`;
}

/** Name and value of each line, none of which can pass for another one: a value is one line. */
function fieldsOf({ from, date, subject, to, cc }: ForwardedHeader): readonly (readonly [string, string])[] {
  return [
    ['From', from === null ? '(unknown)' : addressText(from)],
    ...(date === null ? [] : [['Date', dateText(date)] as const]),
    ['Subject', cleanText(subject ?? '') || '(no subject)'],
    ...(to.length === 0 ? [] : [['To', to.map(addressText).join(', ')] as const]),
    ...(cc.length === 0 ? [] : [['Cc', cc.map(addressText).join(', ')] as const]),
  ];
}

/** As parsing gives it: an instant, or the header as it was written. */
function dateText(date: string): string {
  const ms = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? cleanText(date) : toMailDate(ms);
}

function addressText(address: ParsedAddress): string {
  return 'group' in address
    ? `${nameText(address.name)}: ${address.group.map(mailboxText).join(', ')};`
    : mailboxText(address);
}

function mailboxText({ name, address }: ParsedMailbox): string {
  const bare = cleanText(address);
  if (cleanText(name) === '') return bare;
  return bare === '' ? nameText(name) : `${nameText(name)} <${bare}>`;
}

/** In quotes where it has a character that separates addresses or makes one: a name must not read as an address. */
function nameText(name: string): string {
  const text = cleanText(name);
  return /[<>@,;:"]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}
