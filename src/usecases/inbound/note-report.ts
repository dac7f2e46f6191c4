import { toSuppressedAddress } from '../../domain/addresses.js';
import type { MailReport, ReportedRecipient } from '../../domain/delivery-reports.js';
import { type InboxId, type MessageId, toId } from '../../domain/ids.js';
import { addressesOf } from '../../domain/message-parts.js';
import { MAX_U48 } from '../../store/engine/keys.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { idField } from '../../store/mailbox/folders.js';
import { getSent, knownIdOf, type ReceivedRecord, type SentRecord } from '../../store/mailbox/messages.js';
import { blocksOfTerm } from '../../store/mailbox/postings.js';
import { selectMessages } from '../../store/mailbox/select-messages.js';
import { readMember, threadTerm } from '../../store/threads/members.js';
import { findLinkedThread } from '../../store/threads/threads.js';
import { learnOfRecipient } from '../inboxes/suppressions.js';
import { IMPORTED, IN_PROCESS } from '../ports.js';

/** What another system reports of a delivery to one recipient of a message that was sent from here. */
export interface BounceNews {
  readonly sentId: MessageId;
  /** As the sent copy has it. */
  readonly recipient: string;
  /** `failed`: it was not delivered after all. `complaint`: the recipient calls it abuse. */
  readonly kind: 'failed' | 'complaint';
  /** Enhanced status code (RFC 3463); null when it is not told. */
  readonly status: string | null;
  /** What the server said, in one line; null when it is not told. */
  readonly diagnostic: string | null;
}

/** Tells the delivery records, in the unit of work that publishes the report. */
export type NoteBounce = (writer: Writer, news: BounceNews) => void;

/**
 * Takes in what a received message reports, in the unit of work that publishes it. Nothing proves who wrote a report, so
 * it counts only for a message that was sent from the very inbox that got it, by its Message-ID, and for a recipient
 * which that message has. Those are known to its recipients alone. What one of them can forge is news of a delivery to
 * another, and that this account sends nothing there for a while: nothing else follows from a report.
 */
export function noteReport(
  writer: Writer,
  { inboxId, receivedAt, clientAddress }: ReceivedRecord,
  report: MailReport,
  noteBounce: NoteBounce,
): void {
  // A notice of our own: the delivery records knew before. What is imported is old news.
  if (clientAddress === IN_PROCESS || clientAddress === IMPORTED) return;
  const sent = report.originalMessageId === null ? null : findSent(writer, inboxId, report.originalMessageId);
  if (sent === null) return;
  for (const { recipient, reported } of failures(sent, report)) {
    const { status, diagnostic } = reported;
    const isComplaint = report.kind === 'abuse';
    noteBounce(writer, {
      sentId: sent.id,
      recipient,
      kind: isComplaint ? 'complaint' : 'failed',
      status,
      diagnostic,
    });
    learnOfRecipient(writer, {
      accountId: sent.accountId,
      recipient,
      source: isComplaint ? 'complaint' : 'report',
      status,
      diagnostic,
      at: receivedAt,
    });
  }
}

/** The recipients of a message for which a report brings bad news, each once, by the first that it says of them. */
function* failures(
  sent: SentRecord,
  report: MailReport,
): Generator<{ readonly recipient: string; readonly reported: ReportedRecipient }> {
  const recipients = new Map<string | null, string>();
  for (const address of addressesOf(sent)) recipients.set(toSuppressedAddress(address), address);
  for (const reported of report.recipients) {
    const address = toSuppressedAddress(reported.address);
    const recipient = recipients.get(address);
    if (recipient === undefined || !BAD_NEWS.has(reported.action)) continue;
    recipients.delete(address);
    yield { recipient, reported };
  }
}

const BAD_NEWS: ReadonlySet<string> = new Set(['failed', 'complained']);

/** Is it a delivery report about a message that was sent from this inbox? */
export function reportsOnSentMail(reader: Reader, inboxId: InboxId, report: MailReport): boolean {
  const { kind, originalMessageId } = report;
  return (
    kind === 'dsn' && originalMessageId !== null && findSent(reader, inboxId, originalMessageId) !== null
  );
}

/**
 * The message that was sent from this inbox under this Message-ID; null when there is none. Ours begins with the id of
 * the message.
 */
function findSent(reader: Reader, inboxId: InboxId, messageId: string): SentRecord | null {
  const id = toId<MessageId>(messageId.slice(0, Math.max(0, messageId.indexOf('@'))));
  const named = id === null ? undefined : getSent(reader, id);
  if (named?.inboxId === inboxId && named.messageId === messageId) return named;
  return findReplaced(reader, inboxId, messageId);
}

/** Messages of a conversation that are looked at, from the newest on. */
const MAX_LOOKED_AT = 50;

/** The same where a relay has replaced the Message-ID: it tied the new one to the conversation. */
function findReplaced(reader: Reader, inboxId: InboxId, messageId: string): SentRecord | null {
  const root = findLinkedThread(reader, inboxId, messageId);
  if (root === null) return null;
  const folder = { inboxId, kind: 'sent' } as const;
  const term = threadTerm(root);
  const members = { all: [term], any: [], none: [], from: 0, to: MAX_U48 };
  const newest = { isDescending: true, limit: MAX_LOOKED_AT };
  const { seqs } = selectMessages(reader, folder, members, newest, blocksOfTerm(reader, folder, term));
  for (const seq of seqs) {
    for (const { summary } of readMember(reader, { ...folder, seq })) {
      const id = idField<MessageId>(summary, 'id');
      const sent = id === null ? undefined : getSent(reader, id);
      if (sent !== undefined && knownIdOf(sent) === messageId) return sent;
    }
  }
  return null;
}
