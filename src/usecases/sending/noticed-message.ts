import type { ParsedAddress } from '../../contract/messages.js';
import { domainOf } from '../../domain/addresses.js';
import { Refusal } from '../../domain/errors.js';
import type { Mailbox } from '../../domain/message-parts.js';
import { mailboxesOf } from '../../domain/reply.js';
import { headerOf } from '../../mail/read/message-header.js';
import type { Store } from '../../store/engine/store.js';
import { getSent } from '../../store/mailbox/messages.js';
import type { DeliveryRecord } from '../../store/records/deliveries.js';
import { readWhole } from '../shared/contents.js';
import type { Notice } from './notice-words.js';

/**
 * What a notice says of the message that is delivered. Its sent copy may be deleted, which cancels nothing: then it is
 * read from the bytes, which belong to the deliveries until they end.
 * @returns null when neither is there
 */
export async function noticedMessage(
  store: Store,
  delivery: DeliveryRecord,
): Promise<Notice['record'] | null> {
  const { sentId, inboxId, from, createdAt, content } = delivery;
  const sent = store.read(reader => getSent(reader, sentId));
  if (sent !== undefined) return sent;
  if (content === null) return null;
  const bytes = await readWhole(store, content).catch(error => {
    if (error instanceof Refusal) return null;
    throw error;
  });
  if (bytes === null) return null;
  const { fields, ids } = headerOf(bytes);
  const [author] = mailboxes(fields.from === null ? [] : [fields.from]);
  const { in_reply_to: inReplyTo, references } = fields;
  return {
    id: sentId,
    inboxId,
    messageId: ids.messageId ?? `${sentId}@${domainOf(from)}`,
    reservedAt: Date.parse(fields.date ?? '') || createdAt,
    // To the inbox, whatever is written there.
    from: { ...author, address: from },
    to: mailboxes(fields.to),
    cc: mailboxes(fields.cc),
    subject: fields.subject ?? '',
    replyHeaders: inReplyTo === null || references === null ? null : { inReplyTo, references },
  };
}

function mailboxes(addresses: readonly ParsedAddress[]): Mailbox[] {
  return mailboxesOf(addresses).map(({ address, name = '' }) =>
    name === '' ? { address } : { address, name },
  );
}
