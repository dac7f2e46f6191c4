import { type InboxId, type MessageId, newId } from '../../../src/domain/ids.js';
import { joinWords, messageWordsAtOnce } from '../../../src/domain/message-words.js';
import type { Store } from '../../../src/store/engine/store.js';
import type { Writer } from '../../../src/store/engine/tables.js';
import { takeSequence } from '../../../src/store/mailbox/folders.js';
import { type ReceivedRecord, saveMessage } from '../../../src/store/mailbox/messages.js';
import { BlobUploads } from '../../../src/store/records/blob-upload.js';
import { noteWords } from '../../../src/store/records/search.js';
import { joinThread } from '../../../src/store/threads/move.js';

/** The time of the first generated message; the others follow one a second. */
export const FIRST_AT = Date.UTC(2026, 0, 1);
export const STEP_MS = 1_000;

/** Half of the messages each, and no message both. */
export const HALVES = { even: 'read', odd: 'unread' } as const;
/** Only on the first messages of the mailbox. */
export const OLDEST = { label: 'legacy', messages: 50 } as const;
/** On so many messages of any mailbox, spread over the whole of it. */
export const RARE = { label: 'legal hold', messages: 50 } as const;
/** `topic 1` is on half of the messages, `topic n` on one of 2n: a few that are everywhere, many that are rare. */
export const TOPICS = Array.from({ length: 32 }, (_, index) => `topic ${index + 1}`);

const CORRESPONDENTS = 2_000;
const MESSAGES_PER_UNIT = 250;
const UNITS_IN_FLIGHT = 4;

/** The labels of a message of a mailbox that has `count`. */
export type LabelsOf = (index: number, count: number) => readonly string[];
/** Message-IDs, without brackets, that a message refers to: what conversation it belongs to. */
export type ReferencesOf = (index: number) => readonly string[];

export function messageIdOf(index: number): string {
  return `${index}@correspondents.example`;
}

/** What the messages of a mailbox have; whatever is not given is the same for all. */
export interface Contents {
  /** By default skewed as above. */
  readonly labelsOf?: LabelsOf;
  /** By default each is a conversation of its own. */
  readonly referencesOf?: ReferencesOf;
  /** By default a short text, which is not searched. */
  readonly textOf?: (index: number) => Written;
}

/**
 * Fills an inbox with ready messages, by the same functions with which the product stores them. The same count gives
 * the same messages, except for their ids.
 */
export async function fillMailbox(
  store: Store,
  inboxId: InboxId,
  count: number,
  { labelsOf = skewedLabels, referencesOf = () => [], textOf }: Contents = {},
): Promise<void> {
  const uploads = new BlobUploads(store);
  let next = 0;
  const runUnits = async (): Promise<void> => {
    while (next < count) {
      const from = next;
      next = Math.min(count, from + MESSAGES_PER_UNIT);
      const to = next;
      await store.write(writer => {
        for (let index = from; index < to; index++) {
          storeReady(writer, uploads, inboxId, {
            index,
            labels: labelsOf(index, count),
            references: referencesOf(index),
            ...(textOf === undefined ? {} : { written: textOf(index) }),
          });
        }
      });
    }
  };
  await Promise.all(Array.from({ length: UNITS_IN_FLIGHT }, runUnits));
}

/** Pseudo-random numbers in [0, 1) that are the same in every run. */
function chance(index: number, salt: number): number {
  let hash = Math.imul(index + 1, 0x9e37_79b1) ^ Math.imul(salt + 1, 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}

export function skewedLabels(index: number, count: number): string[] {
  const labels = TOPICS.filter((_, at) => chance(index, at) < 0.5 / (at + 1));
  labels.push(index % 2 === 0 ? HALVES.even : HALVES.odd);
  if (index < OLDEST.messages) labels.push(OLDEST.label);
  if (index % Math.max(1, Math.floor(count / RARE.messages)) === 7) labels.push(RARE.label);
  return labels.sort();
}

/** The sender with this rank; a few of them write most of the mail. */
export function correspondent(rank: number): string {
  return `person${rank}@correspondents.example`;
}

function correspondentOf(index: number, salt: number): string {
  return correspondent(Math.floor(CORRESPONDENTS * chance(index, salt) ** 4));
}

export interface Generated {
  readonly index: number;
  readonly labels: readonly string[];
  readonly references: readonly string[];
  readonly written?: Written;
}

/** Subject and text of a message that can be searched. */
export interface Written {
  readonly subject: string;
  readonly text: string;
}

export function storeReady(
  writer: Writer,
  uploads: BlobUploads,
  inboxId: InboxId,
  { index, labels, references, written }: Generated,
): void {
  const messageId = messageIdOf(index);
  const { seq, at } = takeSequence(writer, { inboxId, kind: 'received' }, FIRST_AT + index * STEP_MS);
  const upload = uploads.begin();
  upload.write(RAW);
  const content = uploads.begin();
  content.write(written === undefined ? CONTENT : Buffer.from(JSON.stringify({ text: written.text })));
  const sender = correspondentOf(index, 101);
  const record: ReceivedRecord = {
    id: newId<MessageId>(at),
    inboxId,
    kind: 'received',
    seq,
    labels,
    senders: [sender],
    recipients: chance(index, 102) < 0.2 ? [OWNER, correspondentOf(index, 103)] : [OWNER],
    trash: null,
    envelopeFrom: sender,
    envelopeTo: OWNER,
    receivedAt: at,
    clientAddress: '192.0.2.25',
    helo: 'mail.correspondents.example',
    raw: upload.finish(writer),
    status: 'ready',
    tries: 1,
    interruptions: 0,
    parseDueAt: null,
    processedAt: at,
    failure: null,
    threadId: joinThread(writer, inboxId, { messageId, references, inReplyTo: [] }, at),
    from: { name: 'A Person', address: sender },
    subject: written?.subject ?? `Report ${index} of the quarter, with remarks`,
    messageId: `<${messageId}>`,
    content: content.finish(writer),
    attachments: [],
  };
  saveMessage(writer, null, record);
  if (written === undefined) return;
  const words = joinWords(messageWordsAtOnce({ ...written, html: null }));
  noteWords(writer, { inboxId, kind: 'received', seq }, words, at);
}

const OWNER = 'agent@bench.example';
const RAW = Buffer.from(`Subject: Report\r\n\r\n${'A line of an ordinary message.\r\n'.repeat(8)}`);
const CONTENT = Buffer.from(JSON.stringify({ text: 'A line of an ordinary message.\n'.repeat(4) }));
