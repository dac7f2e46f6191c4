import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import type { MessageFilter } from '../../../../src/domain/message-filter.js';
import type { ListOrder } from '../../../../src/usecases/mailbox/list-messages.js';
import { DAY_MS } from '../with-house.js';

export interface ModelMember {
  readonly id: MessageId;
  readonly inboxId: InboxId;
  readonly kind: 'received' | 'sent';
  readonly at: number;
  /** In the order of arrival. */
  readonly number: number;
  status: 'pending' | 'ready' | 'failed' | 'accepted' | 'rejected' | 'unknown';
  labels: string[];
  senders: readonly string[];
  recipients: readonly string[];
  subject: string | null;
  trash: { readonly until: number } | null;
}

export interface ModelThread {
  readonly inboxId: InboxId;
  /** Every thread id that it ever had, the oldest first. */
  names: string[];
  keys: Set<string>;
  /** Those in Trash or not ready included. */
  members: ModelMember[];
}

/**
 * What conversations must be, as simply as it can be said: messages that have an id in common, directly or by way
 * of others, are one; every question is answered by looking at all of them.
 */
export class ThreadModel {
  messages: ModelMember[] = [];
  threads: ModelThread[] = [];
  readonly #newest = new Map<string, number>();
  #added = 0;

  /** A message comes into being, in no conversation yet. */
  add(message: Omit<ModelMember, 'at' | 'number' | 'trash'>, nowMs: number): ModelMember {
    const mailbox = `${message.inboxId} ${message.kind}`;
    const at = Math.max(nowMs, this.#newest.get(mailbox) ?? 0);
    this.#newest.set(mailbox, at);
    const member = { ...message, at, number: this.#added++, trash: null };
    this.messages.push(member);
    return member;
  }

  /** A message joins by its ids; the conversation that comes of it, without a name when it is new. */
  join(message: ModelMember, keys: readonly string[]): ModelThread {
    const related = this.threads.filter(
      thread =>
        thread.inboxId === message.inboxId &&
        (thread.members.includes(message) || keys.some(key => thread.keys.has(key))),
    );
    const joined: ModelThread = {
      inboxId: message.inboxId,
      names: related.flatMap(({ names }) => names).sort(),
      keys: new Set([...related.flatMap(thread => [...thread.keys]), ...keys]),
      members: [...new Set([...related.flatMap(({ members }) => members), message])],
    };
    this.threads = [...this.threads.filter(thread => !related.includes(thread)), joined];
    return joined;
  }

  /** Removes messages for good; a conversation ends with its last one. */
  erase(isGone: (message: ModelMember) => boolean): void {
    this.messages = this.messages.filter(message => !isGone(message));
    for (const thread of this.threads) thread.members = thread.members.filter(member => !isGone(member));
    this.threads = this.threads.filter(({ members }) => members.length > 0);
  }

  /** A message that can be reached, or restored. */
  anywhere(id: string, nowMs: number): ModelMember | undefined {
    const message = this.messages.find(candidate => candidate.id === id);
    return message?.trash != null && message.trash.until <= nowMs ? undefined : message;
  }

  trash(message: ModelMember, nowMs: number): void {
    message.trash ??= { until: nowMs + 7 * DAY_MS };
  }

  threadOf(message: ModelMember): ModelThread | undefined {
    return this.threads.find(({ members }) => members.includes(message));
  }

  named(name: string): ModelThread | undefined {
    return this.threads.find(({ names }) => names.includes(name));
  }

  /** Conversations with a member that meets the filter, by their last member. */
  list(inboxId: InboxId, filter: MessageFilter, order: ListOrder): ModelThread[] {
    const found = this.threads
      .filter(thread => thread.inboxId === inboxId && shownOf(thread).some(member => meets(member, filter)))
      .sort((a, b) => compare(shownOf(b).at(-1), shownOf(a).at(-1)));
    return order === 'newest' ? found : found.reverse();
  }
}

/** Members that are shown, in order. */
export function shownOf({ members }: ModelThread): ModelMember[] {
  return members.filter(isShown).sort(compare);
}

export function isShown({ status, trash }: ModelMember): boolean {
  return trash === null && status !== 'pending' && status !== 'failed';
}

export function compare(a: ModelMember | undefined, b: ModelMember | undefined): number {
  if (a === undefined || b === undefined) throw new Error('a thread without members');
  return a.at - b.at || a.kind.localeCompare(b.kind) || a.number - b.number;
}

export function meets(message: ModelMember, filter: MessageFilter): boolean {
  const { labels, from, recipient, subject, after, before } = filter;
  const has = (label: string) => message.labels.includes(label);
  return (
    labels.all.every(has) &&
    (labels.any.length === 0 || labels.any.some(has)) &&
    !labels.none.some(has) &&
    (from === null || message.senders.includes(from)) &&
    (recipient === null || message.recipients.includes(recipient)) &&
    (subject === null || (message.subject ?? '').toUpperCase().includes(subject)) &&
    (after === null || message.at >= after) &&
    (before === null || message.at < before)
  );
}
