import { MAX_LINE_OCTETS } from '../../domain/message-parts.js';
import { inSlices } from '../../lib/slices.js';
import { content, fieldsOf, type OutgoingHeader } from './compose-message.js';
import { compile, write } from './library-composer.js';

/** Fields of a report, in order: of the message, or of one recipient (RFC 3464 section 2). */
export type StatusFields = readonly (readonly [name: string, value: string])[];

export interface OutgoingReport extends OutgoingHeader {
  /** What people read. */
  readonly text: string;
  /** The fields of the message, then those of each recipient; names and values in printable ASCII. */
  readonly status: readonly StatusFields[];
  /** The header of the message that it is about. */
  readonly original: OutgoingHeader;
}

/**
 * A delivery status notification (RFC 3464, RFC 6522): a text for people, the fields for programs, and the header of the
 * original. The same input always gives the same bytes, with CRLF line ends, 7-bit.
 * @throws Error for a value that was not checked as its type promises
 */
export async function composeReport(report: OutgoingReport): Promise<Buffer> {
  const { id, text, status, original } = report;
  const tree = compile(
    {
      ...fieldsOf(report),
      // RFC 3834 section 5: nobody answers it by a program.
      headers: { 'Auto-Submitted': 'auto-replied' },
      text: await inSlices(content(text, id)),
      attachments: [
        part('message/delivery-status', status.map(statusText).join(CRLF)),
        part('text/rfc822-headers', headerText(original)),
      ],
    },
    'multipart/report; report-type=delivery-status',
  );
  return write(tree);
}

const CRLF = '\r\n';

/** Both are 7-bit as they are, and RFC 3464 section 2 asks that they stay so. */
function part(contentType: string, text: string) {
  return {
    contentType,
    contentDisposition: 'inline' as const,
    contentTransferEncoding: '7bit' as const,
    filename: false as const,
    content: Buffer.from(text, 'latin1'),
  };
}

function statusText(fields: StatusFields): string {
  return fields.map(([name, value]) => `${folded(name, value)}${CRLF}`).join('');
}

/** A line is folded before a word that would make it longer. */
const LINE = 76;

function folded(name: string, value: string): string {
  if (!/^[\w-]+$/.test(name) || !/^[!-~]+(?: +[!-~]+)*$/.test(value)) {
    throw new Error(`${name}: text that no field of a report may hold`);
  }
  const [first = '', ...words] = value.split(/ +/);
  const lines = [`${name}: ${first}`];
  for (const word of words) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= LINE) lines[lines.length - 1] = line;
    else lines.push(` ${word}`);
  }
  if (lines.some(line => line.length > MAX_LINE_OCTETS))
    throw new Error(`${name}: a word longer than a line`);
  return lines.join(CRLF);
}

/** Octets of a field of the original that is returned; a longer one, such as To with many names, is left out. */
const LONGEST_RETURNED = 4_096;

/** All of the header but what says how its body was encoded, which is not returned. */
function headerText(original: OutgoingHeader): string {
  const text = { content: Buffer.from(CRLF), contentTransferEncoding: '7bit' as const };
  const header = compile({ ...fieldsOf(original), text }).buildHeaders();
  return header
    .split(/\r\n(?![ \t])/)
    .filter(field => field.length <= LONGEST_RETURNED && !/^(?:MIME-Version|Content-[\w-]+):/i.test(field))
    .map(field => `${field}${CRLF}`)
    .join('');
}
