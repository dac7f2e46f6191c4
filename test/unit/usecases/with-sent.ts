import {
  type AccountId,
  type BlobId,
  type InboxId,
  type MessageId,
  newId,
  type ThreadId,
} from '../../../src/domain/ids.js';
import type { Mailbox } from '../../../src/domain/message-parts.js';
import { joinWords, messageWordsAtOnce } from '../../../src/domain/message-words.js';
import type { Store } from '../../../src/store/engine/store.js';
import { takeSequence } from '../../../src/store/mailbox/folders.js';
import {
  getSent,
  type SentRecord,
  type SentStatus,
  saveMessage,
} from '../../../src/store/mailbox/messages.js';
import { blobChunksTable, CHUNK_BYTES } from '../../../src/store/records/blobs.js';
import { getInbox } from '../../../src/store/records/inboxes.js';
import { noteWords } from '../../../src/store/records/search.js';
import { joinThread } from '../../../src/store/threads/move.js';

export interface SentFields {
  /** Message-ID without brackets. */
  readonly messageId?: string;
  readonly references?: readonly string[];
  readonly status?: SentStatus;
  readonly to?: readonly Mailbox[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly labels?: readonly string[];
}

/** Writes a sent message as a reservation does, in one unit of work. */
export function putSent(
  store: Store,
  inboxId: InboxId,
  nowMs: number,
  fields: SentFields = {},
  setBackMs = 0,
): Promise<SentRecord> {
  return store.write(writer => {
    const accountId = getInbox(writer, inboxId)?.accountId ?? newId<AccountId>(nowMs);
    const { seq, at } = takeSequence(writer, { inboxId, kind: 'sent' }, nowMs, setBackMs);
    const id = newId<MessageId>(at);
    const {
      messageId = `${id}@example.org`,
      references = [],
      to = [{ address: 'Ann@X.example', name: 'Ann' }],
    } = fields;
    const threadId: ThreadId = joinThread(writer, inboxId, { messageId, references, inReplyTo: [] }, at);
    const bodies = {
      text: fields.text ?? 'Sent',
      ...(fields.html === undefined ? {} : { html: fields.html }),
    };
    const json = Buffer.from(JSON.stringify(bodies));
    const content = { id: newId<BlobId>(at), size: json.length };
    for (let at = 0; at < json.length; at += CHUNK_BYTES) {
      const key = { id: content.id, index: at / CHUNK_BYTES };
      writer.put(blobChunksTable, key, json.subarray(at, at + CHUNK_BYTES));
    }
    const record: SentRecord = {
      id,
      inboxId,
      kind: 'sent',
      accountId,
      seq,
      labels: fields.labels ?? [],
      senders: ['agent@example.org'],
      recipients: to.map(({ address }) => address.toLowerCase()),
      trash: null,
      threadId,
      createdAt: at,
      reservedAt: at,
      status: fields.status ?? 'unknown',
      attempt: 'settled',
      relayDueAt: null,
      errorCode: null,
      detail: null,
      messageId,
      inReplyTo: null,
      replyHeaders:
        references.length === 0
          ? null
          : { inReplyTo: `<${references.at(-1)}>`, references: references.map(one => `<${one}>`).join(' ') },
      from: { address: 'agent@example.org' },
      to,
      cc: [],
      bcc: [],
      subject: fields.subject ?? 'Hello',
      content,
      files: [],
    };
    saveMessage(writer, null, record);
    const texts = { subject: record.subject, text: bodies.text, html: fields.html ?? null };
    noteWords(writer, record, joinWords(messageWordsAtOnce(texts)), nowMs);
    return record;
  });
}

/** Saves the outcome of a sent message that is still there. */
export function settleSent(store: Store, id: MessageId, status: SentStatus): Promise<void> {
  return store.write(writer => {
    const before = getSent(writer, id);
    if (before === undefined) return;
    const after = { ...before, status };
    saveMessage(writer, before, after);
  });
}
