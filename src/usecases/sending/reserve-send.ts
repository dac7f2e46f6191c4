import type { ThreadingIds } from '../../domain/message-ids.js';
import { addressesOf, type OutgoingBody, type ReplyTarget } from '../../domain/message-parts.js';
import { jsonOfTexts } from '../../lib/json-texts.js';
import { inSlices } from '../../lib/slices.js';
import type { Writer } from '../../store/engine/tables.js';
import { takeSequence } from '../../store/mailbox/folders.js';
import {
  recipientCount,
  type SentBodies,
  type SentRecord,
  saveMessage,
} from '../../store/mailbox/messages.js';
import { addCharge } from '../../store/records/charges.js';
import { type InboxRecord, suppressedRecipients } from '../../store/records/inboxes.js';
import { addPending } from '../../store/records/pending.js';
import { joinThread } from '../../store/threads/move.js';
import { addFiles, blobNamed, placeFiles, type Uploads } from '../shared/uploads.js';
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
  /** What `uploadContent` has filled. */
  readonly uploads: Uploads;
}

const BODIES = 'bodies';

/** Uploads what the sent copy keeps of a message: its texts, attribution included, and its files. */
export async function uploadContent(
  uploads: Uploads,
  { text, html, files }: Pick<OutgoingBody, 'text' | 'html' | 'files'>,
): Promise<void> {
  const bodies = html === null ? { text } : { text, html };
  await uploads.add(BODIES, await inSlices(jsonOfTexts(bodies satisfies SentBodies)));
  await addFiles(uploads, files);
}

/**
 * Writes the reservation of a send: everything about it, in one unit of work (src/usecases/sending/submit-send.ts says
 * why). The caller has made all checks in the same unit. A suppressed recipient rejects the message here and now: it is
 * kept as `rejected`, without a charge, and the relay never hears of it.
 */
export function reserveSend(writer: Writer, reservation: Reservation): SentRecord {
  const { inbox, content, facts } = reservation;
  const suppressed = suppressedRecipients(writer, addressesOf(content.recipients));
  const record = makeRecord(writer, reservation, suppressed.length > 0);
  saveMessage(writer, null, record);
  if (record.relayDueAt !== null) {
    addPending(writer, record.relayDueAt, { kind: 'relay', id: record.id });
    const charge = { accountId: inbox.accountId, at: facts.date, id: record.id };
    addCharge(writer, charge, recipientCount(record));
  }
  return record;
}

function makeRecord(writer: Writer, reservation: Reservation, isSuppressed: boolean): SentRecord {
  const { recipe, inbox, content, facts, setBackMs, uploads } = reservation;
  const { seq, at } = takeSequence(writer, { inboxId: inbox.id, kind: 'sent' }, facts.date, setBackMs);
  const blobs = uploads.finish(writer);
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
    status: isSuppressed ? 'rejected' : 'unknown',
    attempt: isSuppressed ? 'settled' : 'reserved',
    relayDueAt: isSuppressed ? null : facts.date,
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
    files: placeFiles(content.files, blobs),
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
