import { type AccountId, type InboxId, idFromBytes } from '../../domain/ids.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { bytesOfFeedback, feedbackTable } from '../records/approvals.js';
import { ownerOf, storedBytesTable } from '../records/storage.js';
import type { Ledger } from './ledger.js';

const entry = (id: string, bytes: number): string =>
  `stored bytes of account or drafts of inbox ${id}: ${bytes}`;

/** Adds up what accounts store, to be held against what is counted. */
export class StoredTally {
  readonly #reader: Reader;
  readonly #bytes = new Map<AccountId | InboxId, number>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Bytes in an inbox; what a deleted one held does not count. */
  add(inboxId: InboxId, bytes: number): void {
    const accountId = ownerOf(this.#reader, inboxId);
    if (accountId !== null) this.#add(accountId, bytes);
  }

  /** Bytes of a draft in an inbox, which are counted for the inbox besides. */
  addDraft(inboxId: InboxId, bytes: number): void {
    if (ownerOf(this.#reader, inboxId) !== null) this.#add(inboxId, bytes);
  }

  /** Bytes that belong to an account and to no inbox. */
  addOf(accountId: AccountId, bytes: number): void {
    this.#add(accountId, bytes);
  }

  /** To be called once, when everything else has been added. */
  compare(ledger: Ledger): void {
    for (const { value } of walkTable(this.#reader, feedbackTable)) {
      this.#add(value.accountId, bytesOfFeedback(value));
    }
    for (const { key, value } of walkTable(this.#reader, storedBytesTable)) {
      if (value > 0) ledger.find(entry(idFromBytes<AccountId>(key), value));
    }
    for (const [id, bytes] of this.#bytes) if (bytes > 0) ledger.expect(entry(id, bytes));
  }

  #add(id: AccountId | InboxId, bytes: number): void {
    this.#bytes.set(id, (this.#bytes.get(id) ?? 0) + bytes);
  }
}
