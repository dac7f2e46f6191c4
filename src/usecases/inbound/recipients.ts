import { setImmediate as nextTurn } from 'node:timers/promises';
import { isBarePostmaster, isRoleLocalPart, toInboxAddress } from '../../domain/addresses.js';
import type { InboxId } from '../../domain/ids.js';
import { FromReader } from '../../mail/read/message-header.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import type { BlobUpload } from '../../store/records/blob-upload.js';
import { findAddress } from '../../store/records/inboxes.js';

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
  const mailbox = toInboxAddress(address);
  if (mailbox === null || !mail.domains.includes(mailbox.domain)) return null;
  if (isRoleLocalPart(mailbox.localPart)) return postmasterInbox(reader, mail);
  return liveInbox(reader, `${mailbox.localPart}@${mailbox.domain}`);
}

function postmasterInbox(reader: Reader, mail: MailDomains): InboxId | null {
  const named = mail.postmasterInbox === null ? null : liveInbox(reader, mail.postmasterInbox);
  return named ?? liveInbox(reader, builtInPostmaster(mail));
}

function liveInbox(reader: Reader, address: string): InboxId | null {
  const owner = findAddress(reader, address);
  return owner?.status === 'live' ? owner.inboxId : null;
}

/** Does a live inbox have the address, whatever its `+tag`? Then its agents read the mail to it. */
export function inboxHas(reader: Reader, address: string): boolean {
  const mailbox = toInboxAddress(address);
  return mailbox !== null && liveInbox(reader, `${mailbox.localPart}@${mailbox.domain}`) !== null;
}

/** Does mail to the address reach an inbox, or did it before the inbox was deleted? That to a role always does. */
export function inboxHasOrHad(reader: Reader, address: string): boolean {
  const mailbox = toInboxAddress(address);
  if (mailbox === null) return false;
  const { localPart, domain } = mailbox;
  return isRoleLocalPart(localPart) || findAddress(reader, `${localPart}@${domain}`) !== undefined;
}

/**
 * The visible From of a message that is still an upload, read back when rules ask for it. It is read a chunk at
 * a time, since a header may be as long as a message: never more than that inside a unit of work, where all
 * others wait.
 */
export class UploadedFrom {
  readonly #upload: BlobUpload;
  #reader: FromReader | null = null;
  #chunks = 0;
  #bytes = 0;
  #addresses: readonly string[] | null = null;

  constructor(upload: BlobUpload) {
    this.#upload = upload;
  }

  /** Reads one more chunk unless the header is complete. The addresses, or null when the header continues. */
  readOn(reader: Reader): readonly string[] | null {
    if (this.#addresses !== null) return this.#addresses;
    const from = this.#reader ?? new FromReader();
    this.#reader = from;
    const chunk = this.#upload.chunkAt(reader, this.#chunks);
    if (chunk !== null) {
      from.push(chunk);
      this.#chunks += 1;
      this.#bytes += chunk.length;
    }
    if (from.isDone || this.#bytes >= this.#upload.size) {
      this.#addresses = from.end();
      this.#reader = null;
    }
    return this.#addresses;
  }

  /** Reads to the end of the header, one chunk an event turn, after a unit of work that has been flushed. */
  async readAll(store: Store): Promise<void> {
    do await nextTurn();
    while (store.read(reader => this.readOn(reader)) === null);
  }
}
