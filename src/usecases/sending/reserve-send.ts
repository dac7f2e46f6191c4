import type { KeptExcerpt } from '../../domain/excerpts/kept-excerpt.js';
import type { ThreadingIds } from '../../domain/message-ids.js';
import { addressesOf, type OutgoingBody, type ReplyTarget } from '../../domain/message-parts.js';
import { jsonOfTexts } from '../../lib/json-texts.js';
import { inSlices } from '../../lib/slices.js';
import type { Writer } from '../../store/engine/tables.js';
import { putExcerpt } from '../../store/mailbox/excerpts.js';
import { takeSequence } from '../../store/mailbox/folders.js';
import {
  recipientCount,
  type SentBodies,
  type SentRecord,
  saveMessage,
} from '../../store/mailbox/messages.js';
import { releaseBlob } from '../../store/records/blobs.js';
import { addCharge } from '../../store/records/charges.js';
import type { DeliveryRecord } from '../../store/records/deliveries.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import { addPending } from '../../store/records/pending.js';
import { noteWords } from '../../store/records/search.js';
import { suppressedRecipients } from '../../store/records/suppressions.js';
import { joinThread } from '../../store/threads/move.js';
import { addFiles, blobNamed, placeFiles, type UploadedBlobs, type Uploads } from '../shared/uploads.js';
import { makeDeliveries } from './make-deliveries.js';
import type { MessageFacts, OutgoingContent } from './outgoing.js';
import type { Recipe } from './recipe.js';

export interface Reservation {
  readonly recipe: Recipe;
  readonly inbox: InboxRecord;
  /** Attribution included. */
  readonly content: OutgoingContent;
  readonly facts: MessageFacts;
  /** By how much the clock had been set back in all by then (`Clock`). */
  readonly setBackMs: number;
  /** Places in it are those of the bodies that `uploadContent` has stored. */
  readonly excerpt: KeptExcerpt;
  /** What `uploadContent` has filled. */
  readonly uploads: Uploads;
  /** By which it is found (`joinWords`). */
  readonly words: string;
  /** It is delivered from here, not handed to a relay: `uploadTransmitted` has been called too. */
  readonly isDelivered: boolean;
}

const BODIES = 'bodies';
const TRANSMITTED = 'transmitted';

/** Uploads what the sent copy keeps of a message: its texts, attribution included, and its files. */
export async function uploadContent(
  uploads: Uploads,
  { text, html, files }: Pick<OutgoingBody, 'text' | 'html' | 'files'>,
): Promise<void> {
  const bodies = html === null ? { text } : { text, html };
  await uploads.add(BODIES, await inSlices(jsonOfTexts(bodies satisfies SentBodies)));
  await addFiles(uploads, files);
}

/** Uploads the bytes that deliveries transmit; the caller must not use them again. */
export function uploadTransmitted(uploads: Uploads, message: Uint8Array): Promise<void> {
  return uploads.add(TRANSMITTED, message);
}

/** What a reservation has put into the store. */
export interface ReservedSend {
  readonly record: SentRecord;
  /** None where a relay takes the message. */
  readonly deliveries: readonly DeliveryRecord[];
}

/**
 * Writes the reservation of a send: everything about it, in one unit of work (src/usecases/sending/submit-send.ts says
 * why). The caller has made all checks in the same unit. A suppressed recipient rejects the message here and now: it is
 * kept as `rejected`, without a charge, and nobody is asked to take it.
 */
export function reserveSend(writer: Writer, reservation: Reservation): ReservedSend {
  const { inbox, content, facts, uploads, isDelivered } = reservation;
  const suppressed = suppressedRecipients(writer, inbox.accountId, addressesOf(content.recipients));
  const blobs = uploads.finish(writer);
  const record = makeRecord(writer, reservation, blobs, suppressed.length > 0);
  saveMessage(writer, null, record);
  noteWords(writer, record, reservation.words, facts.date);
  putExcerpt(writer, record.id, reservation.excerpt);
  const isTaken = suppressed.length === 0;
  if (record.relayDueAt !== null) addPending(writer, record.relayDueAt, { kind: 'relay', id: record.id });
  if (isTaken) {
    const charge = { accountId: inbox.accountId, at: facts.date, id: record.id };
    addCharge(writer, charge, recipientCount(record));
  }
  if (!isDelivered) return { record, deliveries: [] };
  const transmitted = blobNamed(blobs, TRANSMITTED);
  if (isTaken) return { record, deliveries: makeDeliveries(writer, record, transmitted, facts.date) };
  releaseBlob(writer, transmitted.id, facts.date);
  return { record, deliveries: [] };
}

function makeRecord(
  writer: Writer,
  reservation: Reservation,
  blobs: UploadedBlobs,
  isSuppressed: boolean,
): SentRecord {
  const { recipe, inbox, content, facts, setBackMs, isDelivered } = reservation;
  const { seq, at } = takeSequence(writer, { inboxId: inbox.id, kind: 'sent' }, facts.date, setBackMs);
  const isSettled = isSuppressed || isDelivered;
  const { to, cc, bcc } = content.recipients;
  return {
    id: facts.id,
    inboxId: inbox.id,
    kind: 'sent',
    accountId: inbox.accountId,
    seq,
    labels: recipe.labels,
    senders: [facts.from.address.toLowerCase()],
    recipients: distinct([...to, ...cc, ...bcc].map(({ address }) => address.toLowerCase())),
    trash: null,
    threadId: joinThread(writer, inbox.id, threadIdsOf(facts.messageId, content.replyTarget), at),
    createdAt: at,
    reservedAt: facts.date,
    // Deliveries that are on disk are accepted; what becomes of each recipient, they say themselves.
    status: isSuppressed ? 'rejected' : isDelivered ? 'accepted' : 'unknown',
    attempt: isSettled ? 'settled' : 'reserved',
    relayDueAt: isSettled ? null : facts.date,
    errorCode: isSuppressed ? 'E_RECIPIENT_SUPPRESSED' : null,
    detail: null,
    messageId: facts.messageId,
    ...(facts.mentionsItself ? { mentionsItself: true } : {}),
    inReplyTo: content.replyTarget?.id ?? null,
    replyHeaders: content.replyTarget?.headers ?? null,
    from: facts.from,
    to,
    cc,
    bcc,
    subject: content.subject,
    content: blobNamed(blobs, BODIES),
    files: placeFiles(writer, inbox.accountId, content.files, blobs),
  };
}

/** Its own id and those that it mentions tie it to its conversation. */
function threadIdsOf(messageId: string, replyTarget: ReplyTarget | null): ThreadingIds {
  return {
    messageId,
    references: idsIn(replyTarget?.headers.references ?? ''),
    inReplyTo: idsIn(replyTarget?.headers.inReplyTo ?? ''),
  };
}

/** Ids in a header that we have made ourselves. */
function idsIn(header: string): string[] {
  return [...header.matchAll(/<([^<>]+)>/g)].flatMap(([, id]) => id ?? []);
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}
