import { notFound, ok, type Result } from '../domain/errors.js';
import { type InboxId, toId } from '../domain/ids.js';
import { toMailboxAddress } from '../domain/inbox-address.js';
import { findAddress, getInbox, type InboxRecord } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';

/** Longest address there can be (RFC 5321 section 4.5.3.1): what is longer is not looked up. */
const MAX_ADDRESS_LENGTH = 320;

/** The live inbox that an admin names by address or id, whoever owns it. */
export function findInbox(reader: Reader, addressOrId: string): Result<InboxRecord> {
  const id = toId<InboxId>(addressOrId) ?? inboxIdAt(reader, addressOrId);
  const inbox = id === null ? undefined : getInbox(reader, id);
  return inbox === undefined ? notFound(`inbox ${addressOrId}`) : ok(inbox);
}

/** An inbox is named by its own address: one with a `+tag` reaches it, but is not its name. */
function inboxIdAt(reader: Reader, address: string): InboxId | null {
  const mailbox = address.length > MAX_ADDRESS_LENGTH ? null : toMailboxAddress(address.trim());
  if (mailbox === null || address.includes('+')) return null;
  const owner = findAddress(reader, `${mailbox.localPart}@${mailbox.domain}`);
  return owner?.status === 'live' ? owner.inboxId : null;
}
