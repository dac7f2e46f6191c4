import type { Test } from 'tap';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import type { Store } from '../../../../src/store/engine/store.js';
import { type SentRecord, saveMessage } from '../../../../src/store/mailbox/messages.js';
import { joinThread } from '../../../../src/store/threads/move.js';
import type { BounceNews } from '../../../../src/usecases/inbound/note-report.js';
import { listSuppressions, type SuppressionView } from '../../../../src/usecases/inboxes/suppressions.js';
import { type House, withHouse } from '../with-house.js';
import { index, parseForReal } from '../with-parser.js';
import { putSent } from '../with-sent.js';

export interface ReportedHouse extends House {
  readonly inboxId: InboxId;
  /** What the delivery records were told. */
  readonly news: BounceNews[];
  /** Takes a report in and publishes it, as the real parser reads it. Text with LF line ends. */
  readonly report: (text: string, inboxId?: InboxId) => Promise<MessageId>;
  /** A message that was sent from an inbox to these recipients. */
  readonly sendTo: (inboxId: InboxId, ...recipients: string[]) => Promise<SentRecord>;
  readonly suppressed: () => readonly SuppressionView[];
}

/** A house with an inbox `agent` to which reports come. */
export async function withReports(t: Test): Promise<ReportedHouse> {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const news: BounceNews[] = [];
  return {
    ...house,
    inboxId,
    news,
    report: async (text, to = inboxId) => {
      const id = await house.receive(Buffer.from(text.replace(/\n/g, '\r\n'), 'latin1'), to);
      await index(house, id, parseForReal, { noteBounce: (_writer, one) => news.push(one) });
      return id;
    },
    sendTo: (from, ...recipients) =>
      putSent(house.store, from, house.now.ms, { to: recipients.map(address => ({ address })) }),
    suppressed: () => listSuppressions(house, { limit: 1000, cursor: null }).suppressions,
  };
}

/** A relay has taken a message, and given it another Message-ID. */
export function renameByRelay(store: Store, sent: SentRecord, assignedId: string): Promise<void> {
  return store.write(writer => {
    const ids = { messageId: assignedId, references: [], inReplyTo: [] };
    const threadId = joinThread(writer, sent.inboxId, ids, sent.createdAt, sent.threadId);
    saveMessage(writer, sent, { ...sent, status: 'accepted', assignedId, threadId });
  });
}

/** A DSN about a message, with these fields for each recipient. */
export function dsn(messageId: string, ...recipients: readonly Readonly<Record<string, string>>[]): string {
  const groups = recipients.map(fields =>
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
  );
  return `From: MAILER-DAEMON@mx.remote.example
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b

It failed.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.remote.example

${groups.join('\n')}
--b
Content-Type: text/rfc822-headers

Message-ID: <${messageId}>
--b--
`;
}

export const failed = (address: string, status = '5.1.1') => ({
  'Final-Recipient': `rfc822; ${address}`,
  Action: 'failed',
  Status: status,
});
