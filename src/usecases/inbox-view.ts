import { toInstant } from '../domain/instants.js';
import { addressOf, type InboxRecord } from '../store/inboxes.js';

/** An inbox as agents and the command line see it (wire contract, `Inbox`). */
export interface InboxView {
  readonly id: string;
  readonly local_part: string;
  readonly address: string;
  readonly name: string | null;
  readonly sender_name: string | null;
  readonly created_at: string;
}

export function viewInbox(inbox: InboxRecord): InboxView {
  return {
    id: inbox.id,
    local_part: inbox.localPart,
    address: addressOf(inbox),
    name: inbox.name,
    sender_name: inbox.senderName,
    created_at: toInstant(inbox.createdAt),
  };
}

/** Whom the inbox sends as: the `from` of its mail (wire contract, `SentMessage`). */
export function senderOf(inbox: InboxRecord): { readonly address: string; readonly name?: string } {
  const address = addressOf(inbox);
  return inbox.senderName === null ? { address } : { address, name: inbox.senderName };
}
