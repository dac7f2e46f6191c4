import { notFound, refuse } from '../../domain/errors.js';
import { type MessageId, toId } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import { getSent, type SentRecord } from '../../store/mailbox/messages.js';
import type { BlobUploads } from '../../store/records/blob-upload.js';
import { type BlobRef, releaseBlob, setBlobOwners } from '../../store/records/blobs.js';
import {
  type DeliveryRecord,
  deliveriesOf,
  hasEnded,
  type RecipientDelivery,
  saveDelivery,
} from '../../store/records/deliveries.js';
import type { Clock, MailSigner } from '../ports.js';
import { blobNamed, withUploads } from '../shared/uploads.js';
import type { ChangedDeliveries } from './delivery-admin.js';
import { planned } from './delivery-states.js';
import { composeOutgoing, readOutgoing } from './outgoing.js';
import { isRelayed } from './relayed-deliveries.js';

interface RetryDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly uploads: BlobUploads;
  readonly signer: MailSigner | null;
}

const AGAIN = 'again';

/**
 * Sends a message again to the recipients of whom it is not known whether they have it: an admin has decided that twice
 * is better than not at all. Its bytes are written anew from the sent copy, as they were.
 */
export async function retryUnknown(deps: RetryDeps, id: string): Promise<ChangedDeliveries> {
  const { store, clock, uploads, signer } = deps;
  const sentId = toId<MessageId>(id);
  const sent = sentId === null ? undefined : store.read(reader => getSent(reader, sentId));
  if (sent === undefined) throw notFound(`sent message ${id}: without its copy it cannot be written again`);
  if (store.read(reader => isRelayed(deliveriesOf(reader, sent.id)))) {
    throw refuse(
      'invalid_request',
      `Nothing of ${id} is delivered from here: it was handed to a relay, or refused at once, and is never sent again. Only a new message goes there.`,
    );
  }
  const composed = await composeAgain(store, sent);
  const message = (await signer?.sign(composed, sent.from.address)) ?? composed;
  return withUploads(uploads, async parts => {
    await parts.add(AGAIN, message);
    return store.write(writer => {
      const nowMs = clock();
      const unknown = deliveriesOf(writer, sent.id).filter(({ recipients }) => recipients.some(isUnknown));
      if (unknown.length === 0) {
        throw refuse('invalid_request', `No recipient of ${id} is unknown: there is nothing to send again.`);
      }
      const content = blobNamed(parts.finish(writer), AGAIN);
      const ended = unknown.filter(hasEnded).length;
      if (ended === 0) releaseBlob(writer, content.id, nowMs);
      else setBlobOwners(writer, content.id, ended);
      for (const delivery of unknown) saveDelivery(writer, delivery, again(delivery, content, nowMs), nowMs);
      const recipients = unknown.flatMap(one => one.recipients.filter(isUnknown));
      return { message_id: id, recipients: recipients.map(({ address }) => address) };
    });
  });
}

function composeAgain(store: Store, sent: SentRecord): Promise<Uint8Array> {
  const { id, messageId, from, reservedAt, mentionsItself = false } = sent;
  const facts = { id, messageId, from, date: reservedAt, mentionsItself };
  return readOutgoing(store, sent).then(content => composeOutgoing(content, facts));
}

function isUnknown({ state }: RecipientDelivery): boolean {
  return state === 'unknown';
}

/** Its time begins anew, and so do its pauses; one that has not ended has its content still. */
function again(delivery: DeliveryRecord, content: BlobRef, nowMs: number): DeliveryRecord {
  const recipients = delivery.recipients.map(
    (one): RecipientDelivery =>
      isUnknown(one) ? { ...one, state: 'queued', at: nowMs, isTold: false } : one,
  );
  const kept = hasEnded(delivery) ? content : delivery.content;
  const begun = { ...delivery, recipients, content: kept, createdAt: nowMs, attempts: 0, nextAt: nowMs };
  return planned(begun, nowMs);
}
