import { toSendableAddress } from '../../domain/addresses.js';
import {
  enhancedCodeIn,
  MAX_DIAGNOSTIC_LENGTH,
  MAX_REPORTED,
  type MailReport,
  type ReportedAction,
  type ReportedRecipient,
} from '../../domain/delivery-reports.js';
import { isUsableMessageId, messageIdsIn, type ThreadingIds } from '../../domain/message-ids.js';
import { cleanText } from '../../domain/text.js';
import { BYTE } from '../../lib/bytes.js';
import { writtenText } from './header-fields.js';
import type { Part } from './part-description.js';

/** Bytes that are read of each part of a report; what comes behind them is left out. */
export const MAX_REPORT_BYTES = 64 * 1024;

/** What a part is for in a report: the fields of a DSN, those of an abuse report, or the message that it is about. */
type Role = 'status' | 'feedback' | 'original';

const ROLES: ReadonlyMap<string, Role> = new Map([
  // RFC 3464 section 2, RFC 6533 section 4.
  ['message/delivery-status', 'status'],
  ['message/global-delivery-status', 'status'],
  // RFC 5965 section 2.
  ['message/feedback-report', 'feedback'],
  // RFC 6522 section 3.
  ['text/rfc822-headers', 'original'],
  ['message/rfc822', 'original'],
  ['message/global', 'original'],
  ['message/global-headers', 'original'],
]);

/**
 * Collects what a report consists of while its parts stream by: a report is a whole message of type `multipart/report`
 * (RFC 6522 section 3), and what it says stands directly in it. Of any other message nothing is kept.
 */
export class ReportParts {
  readonly #parts = new Map<Role, Beginning>();

  /** Takes the bytes of a part that belongs to a report; null for any other. Of several in one role the first counts. */
  collect({ description, place }: Part): Beginning | null {
    if (place.depth !== 1 || place.parent?.kind !== 'report') return null;
    const role = ROLES.get(description.mimeType);
    if (role === undefined || this.#parts.has(role)) return null;
    const part = new Beginning();
    this.#parts.set(role, part);
    return part;
  }

  /**
   * The report, once all parts have passed; null when the message is none, or names nobody.
   * @param ids of the message itself: systems that return nothing of the original answer it at least
   */
  read({ inReplyTo, references }: ThreadingIds): MailReport | null {
    const status = this.#parts.get('status')?.text;
    const feedback = this.#parts.get('feedback')?.text;
    const answered = inReplyTo.at(-1) ?? references.at(-1) ?? null;
    if (status !== undefined) return this.#statusReport(status, answered);
    return feedback === undefined ? null : this.#abuseReport(feedback, answered);
  }

  #statusReport(text: string, answered: string | null): MailReport | null {
    const recipients: ReportedRecipient[] = [];
    let told: string | null = null;
    for (const fields of fieldGroups(text)) {
      const isOfRecipient = fields.has('final-recipient') || fields.has('original-recipient');
      // Gmail's; in the fields that are of no recipient.
      if (!isOfRecipient) told ??= idIn(fields.get('x-original-message-id'));
      const recipient = isOfRecipient ? recipientOf(fields) : null;
      if (recipient !== null) recipients.push(recipient);
      if (recipients.length >= MAX_REPORTED) break;
    }
    const originalMessageId = this.#originalId() ?? told ?? answered;
    return recipients.length === 0 ? null : { kind: 'dsn', recipients, originalMessageId };
  }

  #abuseReport(text: string, answered: string | null): MailReport | null {
    const [fields] = fieldGroups(text);
    const type = fields?.get('feedback-type')?.[0]?.toLowerCase() ?? '';
    if (!COMPLAINTS.has(type)) return null;
    const recipients = (fields?.get('original-rcpt-to') ?? [])
      .slice(0, MAX_REPORTED)
      .map(addressIn)
      .filter(address => address !== null)
      .map(address => ({ address, action: 'complained', status: null, diagnostic: null }) as const);
    const originalMessageId = this.#originalId() ?? answered;
    return recipients.length === 0 ? null : { kind: 'abuse', recipients, originalMessageId };
  }

  #originalId(): string | null {
    const header = this.#parts.get('original')?.text;
    return header === undefined ? null : originalIdIn(header);
  }
}

/** Feedback types by which a recipient complains (RFC 5965 section 7.3); others are of viruses, or of no complaint. */
const COMPLAINTS: ReadonlySet<string> = new Set(['abuse', 'fraud']);

/** The first bytes of a part. */
export class Beginning {
  readonly #pieces: Buffer[] = [];
  #room = MAX_REPORT_BYTES;
  #isCut = false;

  take(bytes: Buffer): void {
    if (bytes.length > this.#room) this.#isCut = true;
    if (this.#room === 0) return;
    // A copy: a view would keep all of the bytes around it.
    const kept = Buffer.from(bytes.subarray(0, this.#room));
    this.#pieces.push(kept);
    this.#room -= kept.length;
  }

  /** One character for each byte; without a last line that was cut, for half an address may be another one. */
  get text(): string {
    const bytes = Buffer.concat(this.#pieces);
    return bytes.toString('latin1', 0, this.#isCut ? bytes.lastIndexOf(BYTE.LF) + 1 : bytes.length);
  }
}

/** Values by field name in lower case, as `writtenText` gives them. */
type Fields = ReadonlyMap<string, readonly string[]>;

/** Groups of fields with a blank line between two (RFC 3464 section 2.1). Lines that are no field are skipped. */
export function* fieldGroups(text: string): Generator<Fields> {
  let group = new Map<string, string[]>();
  let values: string[] | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') {
      if (group.size > 0) yield written(group);
      group = new Map();
      values = undefined;
    } else if (/^[ \t]/.test(line)) {
      values?.push(`${values.pop() ?? ''}${line}`);
    } else {
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
      values = name === '' ? undefined : (group.get(name) ?? []);
      values?.push(line.slice(colon + 1));
      if (values !== undefined) group.set(name, values);
    }
  }
  if (group.size > 0) yield written(group);
}

function written(group: ReadonlyMap<string, readonly string[]>): Fields {
  return new Map([...group].map(([name, values]) => [name, values.map(writtenText)]));
}

/** The Message-ID in the header of the message that a report is about. */
export function originalIdIn(header: string): string | null {
  const [fields] = fieldGroups(header);
  return idIn(fields?.get('message-id'));
}

function idIn(values: readonly string[] | undefined): string | null {
  const id = messageIdsIn(values?.[0] ?? '', 1)[0];
  return id !== undefined && isUsableMessageId(id) ? id : null;
}

const ACTIONS: ReadonlySet<string> = new Set(['failed', 'delayed', 'delivered', 'relayed', 'expanded']);

function recipientOf(fields: Fields): ReportedRecipient | null {
  const first = (name: string): string => fields.get(name)?.[0] ?? '';
  // The address as its sender gave it, not that to which the recipient forwards (RFC 3464 section 2.3.1).
  const address = addressIn(first('original-recipient')) ?? addressIn(first('final-recipient'));
  const action = /^[a-z]*/.exec(first('action').toLowerCase())?.[0] ?? '';
  if (address === null || !ACTIONS.has(action)) return null;
  const diagnostic = diagnosticText(first('diagnostic-code').replace(TYPE, ''));
  const status = statusOf(/^[245]\.\d{1,3}\.\d{1,3}(?!\d)/.exec(first('status'))?.[0] ?? null, diagnostic);
  return { address, action: action as ReportedAction, status, diagnostic };
}

/** The code of the system that reports; where it says no more than the class, that of the server's own words. */
function statusOf(status: string | null, diagnostic: string | null): string | null {
  if (status !== null && !status.endsWith('.0.0')) return status;
  const told = enhancedCodeIn(diagnostic ?? '');
  return told !== null && (status === null || told[0] === status[0]) ? told : status;
}

/** As it is kept of a report, in one line without controls; null when there is none. */
export function diagnosticText(text: string): string | null {
  const line = cleanText(text).replace(/\s+/g, ' ');
  return line.slice(0, MAX_DIAGNOSTIC_LENGTH).toWellFormed().trimEnd() || null;
}

/** The type before an address or a diagnostic (RFC 3464 section 2.1.2), as in `rfc822; ann@example.net`. */
const TYPE = /^[\w-]{1,40} ?; ?/;

/** The address in a field such as Final-Recipient, with or without its type and angle brackets. */
export function addressIn(text: string): string | null {
  const bare = text.replace(TYPE, '').trim();
  return toSendableAddress(/^<([^<>]*)>/.exec(bare)?.[1] ?? bare.split(' ', 1)[0] ?? '');
}
