import type { SendReceipt } from '../../contract/sent.js';
import type { AccountId, MessageId } from '../../domain/ids.js';
import type { OutgoingBody, Recipients } from '../../domain/message-parts.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import type { Hand } from '../shared/in-hand.js';
import type { RetryKey } from '../shared/once.js';

/** What `submitSend` needs from every way of sending: an inbox, a key, and how to derive the message. */
export interface Recipe {
  readonly accountId: AccountId;
  /** Text from outside. */
  readonly inboxId: string;
  /** By which a retry is known; all ways of sending share one namespace. */
  readonly retry: RetryKey | null;
  readonly labels: readonly string[];
  /** What the request has in memory; it is let go when the message is reserved. */
  readonly hand: Hand | null;
  /** Derives what is to be sent; called for a new attempt only, never for a replay. */
  readonly derive: (inbox: InboxRecord) => Promise<Outgoing>;
  /** The draft that is sent; absent where what is sent comes with the request. */
  readonly draft?: DraftToSend;
}

/** A draft goes out once, key or not, and as it was read. */
export interface DraftToSend {
  /** The attempt of the draft; null while it has not been submitted. Refuses a draft that is gone. */
  readonly attempt: (reader: Reader) => SendReceipt | null;
  /** Refuses a draft that was changed since it was read. */
  readonly admit: (reader: Reader) => void;
  /** Submits the draft, in the unit of work of the reservation. */
  readonly submit: (writer: Writer, sentId: MessageId, nowMs: number) => void;
}

/** A message whose recipients are known: the sending rules are checked before the rest is derived. */
export interface Outgoing {
  readonly recipients: Recipients;
  readonly body: () => OutgoingBody | Promise<OutgoingBody>;
}
