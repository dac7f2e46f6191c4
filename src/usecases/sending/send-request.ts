import type { AccountId, MessageId } from '../../domain/ids.js';
import type { Recipients } from '../../domain/message-parts.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import type { SentMetadata } from '../../store/mailbox/messages.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import type { RetryKey } from '../shared/once.js';
import type { OutgoingBody } from './outgoing.js';

/** What every way of sending comes to: an inbox, a key, and how to work out what is to be sent. */
export interface SendRequest {
  readonly accountId: AccountId;
  /** Text from outside. */
  readonly inboxId: string;
  /** By which a retry is known; all ways of sending share one namespace. */
  readonly retry: RetryKey | null;
  readonly labels: readonly string[];
  /** What is answered when sending is not possible; `outbound_unavailable` unless another is said. */
  readonly unavailable?: 'outbound_unavailable' | 'draft_unavailable';
  /** An attempt that there is already, key or not: it is the answer. Null when there is none. */
  readonly recover?: (reader: Reader) => SendReceipt | null;
  /** Works out what is to be sent; asked for a new attempt only, never for a replay. */
  readonly prepare: (inbox: InboxRecord) => PreparedSend | Promise<PreparedSend>;
  /** Is what was prepared still what is meant? Asked in the unit of work of the reservation. */
  readonly confirm?: (reader: Reader) => void;
  /** What else the reservation writes. */
  readonly onReserve?: (writer: Writer, sentId: MessageId, nowMs: number) => void;
}

/** A message whose recipients are known: the sending rules are asked before the rest of it is worked out. */
export interface PreparedSend {
  readonly recipients: Recipients;
  readonly body: () => OutgoingBody | Promise<OutgoingBody>;
}

/** Wire contract, `SendReceipt`. */
export interface SendReceipt {
  readonly limited: false;
  readonly message: SentMetadata;
  readonly outcome_persisted: boolean;
  readonly replayed?: boolean;
  readonly idempotency_expires_at?: string;
}
