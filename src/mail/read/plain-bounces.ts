import type { ParsedAddress } from '../../contract/messages.js';
import {
  enhancedCodeIn,
  MAX_REPORTED,
  type MailReport,
  type ReportedRecipient,
} from '../../domain/delivery-reports.js';
import { addressIn, diagnosticText, MAX_REPORT_BYTES, originalIdIn } from './report-parts.js';

/**
 * The failures that a bounce in plain text tells of: qmail's (QSBMF), whose form Yahoo keeps, and that of Exim up to
 * 4.82. Only the text of a mailer daemon is looked at, and only one that follows its form from the first word to the
 * copy of the message: whoever writes about bounces writes ordinary mail. Null for anything else.
 * @param from the author as the header names it
 * @param text the text of the message; lines end in LF
 */
export function readPlainBounce(from: ParsedAddress | null, text: string | null): MailReport | null {
  if (text === null || from === null || !('address' in from)) return null;
  if (!/^mailer-daemon@/i.test(from.address)) return null;
  const beginning = text.slice(0, MAX_REPORT_BYTES).trimStart();
  const form = FORMS.find(({ intro }) => intro.test(beginning));
  const copy = form === undefined ? null : form.copy.exec(beginning);
  if (form === undefined || copy === null) return null;
  const told = beginning.slice(0, copy.index);
  const recipients = form.recipientsIn(told).slice(0, MAX_REPORTED);
  const originalMessageId = originalIdIn(beginning.slice(copy.index + copy[0].length).trimStart());
  return recipients.length === 0 || originalMessageId === null
    ? null
    : { kind: 'dsn', recipients, originalMessageId };
}

interface Form {
  readonly intro: RegExp;
  /** The line before the copy of the message. */
  readonly copy: RegExp;
  recipientsIn(told: string): ReportedRecipient[];
}

const FORMS: readonly Form[] = [
  {
    // https://cr.yp.to/proto/qsbmf.txt; the second is Yahoo's.
    intro: /^(?:Hi\. This is the |Sorry, we were unable to deliver your message to )/,
    copy: /^-.*$/m,
    recipientsIn: ofQmail,
  },
  {
    intro:
      /^This message was created automatically by mail delivery software\.\s+A message that you (?:sent|have sent) could not be delivered to\s/,
    copy: /^-{4,9} This is a copy of [^\n-]{1,99}-{4,9}$/m,
    recipientsIn: ofExim,
  },
];

/** A paragraph for each recipient, `<address>:` in its first line. */
function ofQmail(told: string): ReportedRecipient[] {
  return told.split(/\n[ \t]*\n/).flatMap(paragraph => {
    const [first = '', ...lines] = paragraph.trim().split('\n');
    const address = /^<.*>:$/.test(first.trim()) ? addressIn(first.trim().slice(0, -1)) : null;
    return address === null ? [] : [failure(address, lines)];
  });
}

/** The address two spaces from the margin, what happened farther in. */
function ofExim(told: string): ReportedRecipient[] {
  const recipients: { address: string; readonly lines: string[] }[] = [];
  for (const line of told.split('\n')) {
    const address = /^ {2}\S/.test(line) ? addressIn(line.trim()) : null;
    const recipient = recipients.at(-1);
    if (address !== null) recipients.push({ address, lines: [] });
    else if (recipient !== undefined && /^ {4}/.test(line)) {
      // The message was to an alias: that is the address which its sender gave.
      const alias = /^\(generated from (\S+)\)$/.exec(line.trim())?.[1];
      const given = alias === undefined ? null : addressIn(alias);
      if (given === null) recipient.lines.push(line);
      else recipient.address = given;
    }
  }
  return recipients.map(({ address, lines }) => failure(address, lines));
}

function failure(address: string, lines: readonly string[]): ReportedRecipient {
  const diagnostic = diagnosticText(lines.map(line => line.trim()).join(' '));
  return { address, action: 'failed', status: enhancedCodeIn(diagnostic ?? ''), diagnostic };
}
