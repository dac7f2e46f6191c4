import type { AccountId } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import { ownerOf, RECORD_BYTES } from '../../store/records/storage.js';
import type { ResolvedRecipient } from '../ports.js';
import { MIB, type StorageLimits, storageOf } from '../shared/storage.js';

/** Counted for a message whose sender does not say how large it is. */
const UNDECLARED_BYTES = MIB;

/** The part of an account that messages under way may fill. */
const ANNOUNCED_DIVISOR = 4;

/** What notices of the service may take beyond the allowance of an account: whoever is full must still hear of it. */
const NOTICE_RESERVE_BYTES = 5 * MIB;

/**
 * Decides at RCPT whether the account of a recipient has storage left, and counts the messages that are on their way
 * to it: else any number of senders could pass the check at once. Once let through, a message is taken whatever its
 * size: a refusal behind the final dot would concern the other recipients too. So an account comes to store more than
 * it may by what the transactions under way bring beyond their SIZE, each at most the largest message that is taken.
 *
 * What others have announced fills a quarter of an account at most: a stranger could announce 25 MiB over many
 * connections, send nothing, and keep its mail out.
 */
export class StorageHolds {
  readonly #store: Store;
  readonly #limits: StorageLimits;
  readonly #held = new Map<AccountId, number>();

  constructor(store: Store, limits: StorageLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * @param declaredBytes from SIZE (RFC 1870), null without it
   * @returns to be called when the transaction is over; null when the account is full
   */
  hold(
    { inboxId, isRole }: ResolvedRecipient,
    declaredBytes: number | null,
    isNotice = false,
  ): (() => void) | null {
    // A domain answers for itself (RFC 5321 section 4.5.1): the disk has a share for this mail.
    if (isRole) return () => {};
    const bytes = RECORD_BYTES + (declaredBytes ?? UNDECLARED_BYTES);
    const accountId = this.#store.read(reader => ownerOf(reader, inboxId));
    if (accountId === null) return () => {};
    const storage = this.#store.read(reader => storageOf(reader, this.#limits, accountId));
    const held = this.#held.get(accountId) ?? 0;
    const reserve = isNotice ? NOTICE_RESERVE_BYTES : 0;
    if (storage !== null) {
      const announced = Math.min(held, storage.limit / ANNOUNCED_DIVISOR);
      if (storage.used + announced + bytes > storage.limit + reserve) return null;
    }
    this.#held.set(accountId, held + bytes);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const rest = (this.#held.get(accountId) ?? 0) - bytes;
      if (rest > 0) this.#held.set(accountId, rest);
      else this.#held.delete(accountId);
    };
  }
}
