import type { Store } from '../../store/engine/store.js';
import type { ReceivedRecord } from '../../store/mailbox/messages.js';
import { readBlob, readBlobInto } from '../../store/records/blobs.js';
import type { ParseSource } from '../ports.js';

/** The raw bytes of a stored message, for a parser or a check; its inbox is their owner. */
export function rawSourceOf(store: Store, { raw, inboxId }: ReceivedRecord): ParseSource {
  return {
    size: raw.size,
    bytes: readBlob(store, raw),
    readInto: target => readBlobInto(store, raw, target),
    owner: inboxId,
  };
}
