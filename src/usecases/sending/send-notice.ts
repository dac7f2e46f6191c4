import { domainOf } from '../../domain/addresses.js';
import { type MessageId, newId } from '../../domain/ids.js';
import { replyHeaders } from '../../domain/message-ids.js';
import { composeReport } from '../../mail/write/compose-report.js';
import type { Writer } from '../../store/engine/tables.js';
import { type Clock, IN_PROCESS, type InboundMail, type ResolvedRecipient } from '../ports.js';
import { type Notice, noticeFields, noticeSubject, noticeText } from './notice-words.js';

export interface NoticeDeps {
  readonly inbound: InboundMail;
  readonly clock: Clock;
  /** `mail.hostname`: who reports. */
  readonly hostname: string;
}

export type NoticeOutcome =
  | { readonly status: 'delivered'; readonly id: MessageId }
  /** The disk, or the account with its reserve, is full: try later. Nothing was written. */
  | { readonly status: 'no_room' }
  /** The inbox was deleted: nobody is to be told. */
  | { readonly status: 'gone' };

/**
 * Tells the inbox that sent a message what became of it: one notice (RFC 3464) for all recipients of whom there is
 * something to say. It is delivered within the process, whatever the receiving rules of the inbox, and joins the conversation of the
 * message.
 *
 * A notice is never about a notice: it is written to the inbox here and now, with the null reverse-path, and is no sent
 * message, so it has no delivery that could fail. Sent messages are those of agents, whose reverse-path is their inbox.
 * Nothing here answers mail that came in.
 * @param alongside written in the commit that takes the notice in, so that it is given once, whenever the process ends
 * @throws when the store fails: whether it was delivered is told by what `alongside` wrote
 */
export async function sendNotice(
  deps: NoticeDeps,
  notice: Notice,
  alongside: (writer: Writer) => void,
): Promise<NoticeOutcome> {
  const { inbound } = deps;
  const { inboxId, from } = notice.record;
  const recipient: ResolvedRecipient = { inboxId, address: from.address, isRole: false };
  const bytes = await composeNotice(deps, notice);
  const release = inbound.holdStorage(recipient, bytes.length, true);
  if (release === null) return { status: 'no_room' };
  try {
    return inbound.hasRoom() ? await deliver(deps, recipient, bytes, alongside) : { status: 'no_room' };
  } finally {
    release();
  }
}

/** The notice as it is delivered. */
export function composeNotice(
  { clock, hostname }: Pick<NoticeDeps, 'clock' | 'hostname'>,
  notice: Notice,
): Promise<Buffer> {
  const { record } = notice;
  const { address } = record.from;
  const domain = domainOf(address);
  const nowMs = clock();
  const id = newId<MessageId>(nowMs);
  const { messageId, reservedAt, mentionsItself = false } = record;
  return composeReport({
    id,
    messageId: `${id}@${domain}`,
    date: nowMs,
    from: { address: `postmaster@${domain}`, name: 'Mail Delivery System' },
    to: [{ address }],
    cc: [],
    subject: noticeSubject(notice),
    replyHeaders: replyHeaders({
      messageId,
      references: record.replyHeaders?.references ?? null,
      inReplyTo: null,
    }),
    mentionsItself: false,
    text: noticeText(notice, hostname),
    status: noticeFields(notice, hostname),
    original: { ...record, date: reservedAt, mentionsItself },
  });
}

async function deliver(
  { inbound, hostname }: NoticeDeps,
  recipient: ResolvedRecipient,
  bytes: Buffer,
  alongside: (writer: Writer) => void,
): Promise<NoticeOutcome> {
  const body = inbound.begin();
  const envelope = {
    from: '',
    recipients: [recipient],
    clientAddress: IN_PROCESS,
    helo: hostname,
    isNotice: true,
  };
  try {
    if (!body.write(bytes)) await body.drained();
    const outcome = await body.commit(envelope, alongside);
    if (outcome.status === 'no_room') return { status: 'no_room' };
    const [id] = outcome.status === 'accepted' ? outcome.messageIds : [];
    return id === undefined ? { status: 'gone' } : { status: 'delivered', id };
  } catch (error) {
    body.abort();
    throw error;
  }
}
