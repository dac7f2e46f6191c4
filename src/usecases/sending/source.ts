import { notFound, type Refusal, refuse } from '../../domain/errors.js';
import { type InboxId, type MessageId, toId } from '../../domain/ids.js';
import { type ReplyParent, replyHeaders } from '../../domain/message-ids.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { getMessage, getSent, type ReceivedRecord, type SentRecord } from '../../store/mailbox/messages.js';
import { type ContentHeader, readContentHeader } from '../shared/contents.js';
import type { ReplyTarget } from './outgoing.js';

/** A message of the sending inbox that is answered or forwarded: ready, if received; accepted, if sent. */
export type MessageSource =
  | { readonly kind: 'received'; readonly record: ReceivedRecord; readonly header: ContentHeader }
  | { readonly kind: 'sent'; readonly record: SentRecord };

/**
 * Finds the message that is answered or forwarded (specification, Sending rule 4). Missing, deleted and other
 * inboxes' messages are all `not_found`; one that is not ready or not accepted is `reply_not_ready`.
 */
export async function findSource(store: Store, inboxId: InboxId, messageId: string): Promise<MessageSource> {
  const found = store.read(reader => findRecord(reader, inboxId, messageId));
  if (found === null) throw notFound('message in this inbox');
  if (found.kind === 'sent') {
    if (found.status !== 'accepted')
      throw refuse(
        'reply_not_ready',
        `The sent message is ${found.status}; only an accepted one can be answered or forwarded.`,
      );
    return { kind: 'sent', record: found };
  }
  if (found.status !== 'ready') {
    throw refuse(
      'reply_not_ready',
      `The message is ${found.status}; it can be answered or forwarded once it is ready.`,
    );
  }
  const header = await readContentHeader(store, found);
  if (header === null) throw missingContent(store, found);
  return { kind: 'received', record: found, header };
}

/** What to answer when the bytes of a message are not to be had: it may have been deleted while it was read. */
export function missingContent(
  store: Store,
  { inboxId, id }: Pick<ReceivedRecord | SentRecord, 'inboxId' | 'id'>,
): Refusal {
  if (store.read(reader => findRecord(reader, inboxId, id)) === null)
    return notFound('message in this inbox');
  return refuse(
    'content_unavailable',
    'The stored content of the message cannot be read right now; nothing was done. Retry later.',
  );
}

function findRecord(reader: Reader, inboxId: InboxId, messageId: string): ReceivedRecord | SentRecord | null {
  const id = toId<MessageId>(messageId);
  const record = id === null ? undefined : (getMessage(reader, id) ?? getSent(reader, id));
  return record?.inboxId === inboxId && record.trash === null ? record : null;
}

/** What ties a reply to the message; `reply_headers_unavailable` when that has no usable Message-ID. */
export function replyTargetOf(source: MessageSource): ReplyTarget {
  const headers = replyHeaders(parentOf(source));
  return { id: source.record.id, headers };
}

function parentOf(source: MessageSource): ReplyParent {
  if (source.kind === 'sent') {
    const { messageId, replyHeaders: own } = source.record;
    return { messageId, references: own?.references ?? null, inReplyTo: own?.inReplyTo ?? null };
  }
  const { message_id: messageId, references, in_reply_to: inReplyTo } = source.header;
  return { messageId, references, inReplyTo };
}
