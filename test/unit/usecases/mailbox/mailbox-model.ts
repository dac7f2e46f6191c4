import type { Verdict } from '../../../../src/domain/authentication.js';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import type { MessageFilter } from '../../../../src/domain/message-filter.js';
import type { ListOrder } from '../../../../src/usecases/mailbox/list-messages.js';
import { DAY_MS } from '../with-house.js';

export interface ModelMessage {
  readonly id: MessageId;
  readonly inboxId: InboxId;
  readonly receivedAt: number;
  status: 'pending' | 'ready' | 'failed';
  labels: Set<string>;
  senders: readonly string[];
  recipients: readonly string[];
  subject: string | null;
  verdict: Verdict;
  /** What a message that is parsed again has been found out to be. */
  checked: Verdict | null;
  trash: { readonly number: number; readonly deletedAt: number; readonly until: number } | null;
}

/**
 * What folders must do, as simply as it can be said: messages in an array in the order of arrival, and every question
 * answered by looking at all of them.
 */
export class MailboxModel {
  messages: ModelMessage[] = [];
  readonly #newest = new Map<InboxId, number>();
  #trashed = 0;

  deliver(id: MessageId, inboxId: InboxId, nowMs: number): void {
    const receivedAt = Math.max(nowMs, this.#newest.get(inboxId) ?? 0);
    this.#newest.set(inboxId, receivedAt);
    this.messages.push({
      id,
      inboxId,
      receivedAt,
      status: 'pending',
      labels: new Set(),
      senders: [],
      recipients: [],
      subject: null,
      verdict: 'unknown',
      checked: null,
      trash: null,
    });
  }

  /** A message that the API reaches, or in Trash and restorable. */
  anywhere(id: string, nowMs: number): ModelMessage | undefined {
    const message = this.messages.find(candidate => candidate.id === id);
    return message?.trash != null && message.trash.until <= nowMs ? undefined : message;
  }

  live(id: string): ModelMessage | undefined {
    return this.messages.find(message => message.id === id && message.trash === null);
  }

  trash(message: ModelMessage, nowMs: number): void {
    this.#trashed += 1;
    message.trash ??= { number: this.#trashed, deletedAt: nowMs, until: nowMs + 7 * DAY_MS };
  }

  erase(gone: (message: ModelMessage) => boolean): void {
    this.messages = this.messages.filter(message => !gone(message));
  }

  list(inboxId: InboxId, filter: MessageFilter, order: ListOrder): MessageId[] {
    const ids = this.messages
      .filter(message => message.inboxId === inboxId && message.trash === null && meets(message, filter))
      .map(({ id }) => id);
    return order === 'newest' ? ids.reverse() : ids;
  }

  labels(inboxId: InboxId, prefix: string): { name: string; received_count: number; sent_count: number }[] {
    const counts = new Map<string, number>();
    for (const message of this.messages) {
      if (message.inboxId !== inboxId || message.trash !== null) continue;
      for (const label of message.labels) counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    return [...counts]
      .filter(([name]) => name.startsWith(prefix))
      .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map(([name, count]) => ({ name, received_count: count, sent_count: 0 }));
  }

  /** What can be restored, last trashed first. */
  trashOf(inboxId: InboxId, nowMs: number): ModelMessage[] {
    return this.messages
      .filter(message => message.inboxId === inboxId && (message.trash?.until ?? 0) > nowMs)
      .sort((a, b) => (b.trash?.number ?? 0) - (a.trash?.number ?? 0));
  }
}

function meets(message: ModelMessage, filter: MessageFilter): boolean {
  const { labels, from, recipient, subject, after, before, authentication } = filter;
  const has = (label: string) => message.labels.has(label);
  return (
    labels.all.every(has) &&
    (labels.any.length === 0 || labels.any.some(has)) &&
    !labels.none.some(has) &&
    (from === null || message.senders.includes(from)) &&
    (recipient === null || message.recipients.includes(recipient)) &&
    (subject === null || (message.subject ?? '').toUpperCase().includes(subject)) &&
    (after === null || message.receivedAt >= after) &&
    (before === null || message.receivedAt < before) &&
    (authentication === null || message.verdict === authentication)
  );
}
