import type { AccountEvent } from '../../contract/events.js';
import type { AccountId, MessageId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { Reader } from '../../store/engine/tables.js';
import { type MessageKind, summariesTable } from '../../store/mailbox/folders.js';
import { getMessage, getSent } from '../../store/mailbox/messages.js';
import { getDelivery } from '../../store/records/deliveries.js';
import type { StoredEvent } from '../../store/records/events.js';
import { getInbox } from '../../store/records/inboxes.js';
import { ownerOf } from '../../store/records/storage.js';
import { canonicalThread, hasMergedThreads, showThreads } from '../../store/threads/names.js';
import { viewInbox } from '../inboxes/inboxes.js';
import { viewDelivery } from '../sending/view-delivery.js';

/** Events as clients see them, with what they are about as it is now. */
export class EventViews {
  /** Made in this event turn: a hundred who wait are told of the same event. */
  readonly #made = new Map<string, Buffer>();

  /** JSON of an event (`AccountEvent`), not to be changed. */
  view(reader: Reader, accountId: AccountId, event: StoredEvent): Buffer {
    const known = this.#made.get(event.id);
    if (known !== undefined) return known;
    const json = viewEvent(reader, accountId, event);
    if (this.#made.size === 0) setImmediate(() => this.#made.clear());
    this.#made.set(event.id, json);
    return json;
  }
}

const SUMMARY = Buffer.from(',"summary":');
const NULL = Buffer.from('null');
const END = Buffer.from('}');

/** The line of a message is stored as JSON and goes out as it is. */
function viewEvent(reader: Reader, accountId: AccountId, event: StoredEvent): Buffer {
  const facts = JSON.stringify(factsOf(reader, event));
  return Buffer.concat([
    Buffer.from(facts.slice(0, -1)),
    SUMMARY,
    summaryOf(reader, accountId, event) ?? NULL,
    END,
  ]);
}

type Facts = AccountEvent extends infer Event
  ? Event extends object
    ? Omit<Event, 'summary'>
    : never
  : never;

function factsOf(reader: Reader, event: StoredEvent): Facts {
  const { id, sequence, at, inboxId } = event;
  const base = { id, sequence, created_at: toInstant(at), inbox_id: inboxId };
  switch (event.type) {
    case 'message.received':
    case 'send.outcome': {
      const { type, messageId, threadId } = event;
      const isShown = threadId !== null && hasMergedThreads(reader, inboxId);
      const shown = isShown ? canonicalThread(reader, threadId) : threadId;
      return { type, message_id: messageId, thread_id: shown, ...base };
    }
    case 'message.failed':
      return { type: event.type, message_id: event.messageId, ...base };
    case 'delivery.changed':
      return { type: event.type, message_id: event.messageId, delivery_id: event.deliveryId, ...base };
    case 'thread.merged':
      return { type: event.type, thread_id: event.threadId, merged_thread_id: event.mergedId, ...base };
    case 'inbox.created':
    case 'inbox.deleted':
      return { type: event.type, ...base };
    case 'trash.moved':
    case 'trash.restored':
    case 'trash.purged':
      return { type: event.type, message_id: event.messageId, kind: event.kind, ...base };
  }
}

function summaryOf(reader: Reader, accountId: AccountId, event: StoredEvent): Buffer | null {
  // With its inbox all is gone, erased or not.
  if (ownerOf(reader, event.inboxId) !== accountId) return null;
  switch (event.type) {
    case 'message.received':
    case 'message.failed':
      return lineOf(reader, 'received', event.messageId);
    case 'send.outcome':
      return lineOf(reader, 'sent', event.messageId);
    case 'delivery.changed': {
      const delivery = getDelivery(reader, event.deliveryId);
      return delivery === undefined ? null : jsonOf(viewDelivery(delivery));
    }
    case 'thread.merged':
      return null;
    case 'inbox.created':
    case 'inbox.deleted': {
      const inbox = getInbox(reader, event.inboxId);
      return inbox === undefined ? null : jsonOf(viewInbox(inbox));
    }
    case 'trash.moved':
    case 'trash.restored':
    case 'trash.purged':
      return lineOf(reader, event.kind, event.messageId);
  }
}

const jsonOf = (value: object): Buffer => Buffer.from(JSON.stringify(value));

/** The line that lists show of a message; null when they show none. */
function lineOf(reader: Reader, kind: MessageKind, id: MessageId): Buffer | null {
  const message = kind === 'received' ? getMessage(reader, id) : getSent(reader, id);
  if (message === undefined || message.trash !== null) return null;
  const line = reader.get(summariesTable, message);
  if (line === undefined) return null;
  showThreads(reader, message.inboxId, [line]);
  return line;
}
