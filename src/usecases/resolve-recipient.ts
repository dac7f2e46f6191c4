import type { InboxId } from '../domain/ids.js';
import { isRoleLocalPart, toMailboxAddress } from '../domain/inbox-address.js';
import { findAddress } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';

/** The mail domains we serve and where mail for the postmaster goes. */
export interface MailDomains {
  /** Lower case, A-labels; the first is the default. */
  readonly domains: readonly string[];
  /** Address of the inbox that gets mail for `postmaster@` and `abuse@`; null: the built-in one. */
  readonly postmasterInbox: string | null;
}

/** Address of the inbox that is made with the store for the operator. */
export function builtInPostmaster(mail: MailDomains): string {
  return `postmaster@${mail.domains[0] ?? 'localhost'}`;
}

/**
 * The live inbox that a recipient address reaches, or null: unknown, retired and foreign addresses are
 * refused alike. Bare `postmaster` means ours (RFC 5321 section 4.5.1).
 */
export function resolveRecipient(reader: Reader, mail: MailDomains, address: string): InboxId | null {
  if (isBarePostmaster(address)) return postmasterInbox(reader, mail);
  const mailbox = toMailboxAddress(address);
  if (mailbox === null || !mail.domains.includes(mailbox.domain)) return null;
  if (isRoleLocalPart(mailbox.localPart)) return postmasterInbox(reader, mail);
  return liveInbox(reader, `${mailbox.localPart}@${mailbox.domain}`);
}

/** Does a recipient address stand for a role and not for an inbox? */
export function isRoleAddress(address: string): boolean {
  return isBarePostmaster(address) || isRoleLocalPart(toMailboxAddress(address)?.localPart ?? '');
}

function isBarePostmaster(address: string): boolean {
  return address.toLowerCase() === 'postmaster';
}

function postmasterInbox(reader: Reader, mail: MailDomains): InboxId | null {
  const named = mail.postmasterInbox === null ? null : liveInbox(reader, mail.postmasterInbox);
  return named ?? liveInbox(reader, builtInPostmaster(mail));
}

function liveInbox(reader: Reader, address: string): InboxId | null {
  const owner = findAddress(reader, address);
  return owner?.status === 'live' ? owner.inboxId : null;
}
