import { setImmediate as nextTurn } from 'node:timers/promises';
import { blocksSender, toSenders } from '../domain/address-policy.js';
import type { InboxId } from '../domain/ids.js';
import { FromReader } from '../mail/from-reader.js';
import type { BlobUpload } from '../store/blob-upload.js';
import { getPolicy, type PolicyRecord } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import type { ResolvedRecipient } from './inbound-mail.js';

/** The receiving rules that have a say about an envelope. */
export type ReceivingRules = ReadonlyMap<InboxId, PolicyRecord>;

/**
 * The rules of the recipients' inboxes as they are in this snapshot. Mostly there are none: then nobody needs
 * to know the sender, and the look costs a key an inbox. Mail to a role address is always taken, whichever
 * inbox it reaches: a domain has to answer for itself even to those it does not listen to (RFC 5321 section
 * 4.5.1).
 */
export function receivingRules(reader: Reader, recipients: readonly ResolvedRecipient[]): ReceivingRules {
  const rules = new Map<InboxId, PolicyRecord>();
  for (const { inboxId, isRole } of recipients) {
    if (isRole || rules.has(inboxId)) continue;
    const policy = getPolicy(reader, inboxId, 'receiving');
    if (policy.enabled && policy.addresses.length + policy.domains.length > 0) rules.set(inboxId, policy);
  }
  return rules;
}

/** The recipients that take mail from these mailboxes (wire contract 3.5), in their order. */
export function willingRecipients(
  rules: ReceivingRules,
  recipients: readonly ResolvedRecipient[],
  fromAddresses: readonly string[],
): readonly ResolvedRecipient[] {
  if (rules.size === 0) return recipients;
  const senders = toSenders(fromAddresses);
  return recipients.filter(({ inboxId, isRole }) => {
    const policy = isRole ? undefined : rules.get(inboxId);
    return policy === undefined || !blocksSender(policy, senders);
  });
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

  /** Reads a chunk on, unless all is known. The addresses, or null when the header goes on behind it. */
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

  /** Reads to the end of the header, a chunk an event turn, behind a unit of work that has been flushed. */
  async readAll(store: Store): Promise<void> {
    do await nextTurn();
    while (store.read(reader => this.readOn(reader)) === null);
  }
}
