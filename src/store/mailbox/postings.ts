import { hash } from 'node:crypto';
import type { Verdict } from '../../domain/authentication.js';
import { type InboxId, idFromBytes, idToBytes, type ThreadId } from '../../domain/ids.js';
import { addMember, blocksOfSet, hasMember, moveMembers, removeMember } from '../bitmap/sets.js';
import { joinKey, range, text, u8, u48 } from '../engine/keys.js';
import { asItIs, bytesKey, type Reader, type Table, type Writer } from '../engine/tables.js';
import { FOLDER_BYTES, type Folder, folderKey, folderOfKey, type MessageKind } from './folders.js';

/**
 * What the messages of a set have in common. `gone` holds the numbers that lists no longer show (deleted, or in Trash).
 * Keeping those instead of the live ones means that accepting a message updates no set.
 */
export type Term =
  | { readonly type: 'gone' }
  | { readonly type: 'label'; readonly label: string }
  /** A mailbox of the From header; lower case. */
  | { readonly type: 'from'; readonly address: string }
  /** A mailbox of To, Cc or Bcc; lower case. */
  | { readonly type: 'recipient'; readonly address: string }
  /** A conversation, by the id that its members are kept under (`threads/names.ts`). */
  | { readonly type: 'thread'; readonly root: ThreadId }
  /** What is known of who has written them. Those of whom nothing is known are in none of these sets. */
  | { readonly type: 'authentication'; readonly verdict: KnownVerdict };

export type KnownVerdict = Exclude<Verdict, 'unknown'>;

export const KNOWN_VERDICTS: readonly KnownVerdict[] = ['pass', 'none', 'fail'];

const TERM_BYTE = { gone: 1, label: 2, from: 3, recipient: 4, thread: 5, authentication: 6 } as const;

/** Length of the hash of an address in hexadecimal digits (16 bytes). */
const ADDRESS_DIGITS = 32;

/** The key of the set of a term. */
export function termKey(folder: Folder, term: Term): Buffer {
  return joinKey(
    folderKey(folder),
    u8(TERM_BYTE[term.type]),
    termBytes(term),
    // Labels and verdicts have no control characters, the other terms a fixed length: no term's key begins another's.
    u8(0),
  );
}

function termBytes(term: Term): Buffer {
  switch (term.type) {
    case 'gone':
      return Buffer.alloc(0);
    case 'label':
      return text(term.label);
    case 'thread':
      return idToBytes(term.root);
    case 'authentication':
      return text(term.verdict);
    default:
      return hashedAddress(term.address);
  }
}

/** Addresses in headers may be longer than a key can be, so they are hashed. */
export function hashedAddress(address: string): Buffer {
  return Buffer.from(hash('sha256', address, 'hex').slice(0, ADDRESS_DIGITS), 'hex');
}

/** A term as read back from a key: addresses are hashes. */
export type StoredTerm =
  | { readonly type: 'gone' }
  | { readonly type: 'label'; readonly label: string }
  | { readonly type: 'from' | 'recipient'; readonly hash: string }
  | { readonly type: 'thread'; readonly root: ThreadId }
  | { readonly type: 'authentication'; readonly verdict: KnownVerdict };

/** What the key of a set stands for. */
export function readTermKey(key: Buffer): { folder: Folder; term: StoredTerm } {
  const bytes = key.subarray(FOLDER_BYTES + 1, key.length - 1);
  return { folder: folderOfKey(key), term: storedTerm(key[FOLDER_BYTES], bytes) };
}

function storedTerm(byte: number | undefined, bytes: Buffer): StoredTerm {
  switch (byte) {
    case TERM_BYTE.gone:
      return { type: 'gone' };
    case TERM_BYTE.label:
      return { type: 'label', label: bytes.toString('utf8') };
    case TERM_BYTE.from:
      return { type: 'from', hash: bytes.toString('hex') };
    case TERM_BYTE.recipient:
      return { type: 'recipient', hash: bytes.toString('hex') };
    case TERM_BYTE.thread:
      return { type: 'thread', root: idFromBytes<ThreadId>(bytes) };
    case TERM_BYTE.authentication:
      return { type: 'authentication', verdict: bytes.toString('utf8') as KnownVerdict };
    default:
      throw new Error(`no set of messages has the number ${byte}: the store is damaged`);
  }
}

/** Puts a message into a set; false when it is in it. */
export function addPosting(writer: Writer, folder: Folder, term: Term, seq: number): boolean {
  return addMember(writer, termKey(folder, term), seq);
}

/** Takes a message out of a set; false when it is not in it. */
export function removePosting(writer: Writer, folder: Folder, term: Term, seq: number): boolean {
  return removeMember(writer, termKey(folder, term), seq);
}

export function hasPosting(reader: Reader, folder: Folder, term: Term, seq: number): boolean {
  return hasMember(reader, termKey(folder, term), seq);
}

/** Numbers of the blocks that a set has, in ascending order. */
export function blocksOfTerm(reader: Reader, folder: Folder, term: Term): number[] {
  return blocksOfSet(reader, termKey(folder, term));
}

/** Moves all members of one set into another. Cost: two blocks for each block of the first set. */
export function moveSet(writer: Writer, folder: Folder, from: Term, to: Term): void {
  moveMembers(writer, termKey(folder, from), termKey(folder, to));
}

/** How many live messages of each kind have a label. */
export interface LabelCount {
  readonly received: number;
  readonly sent: number;
}

/**
 * [inbox, label] -> counts. Sorted by the bytes of the label, so it is also the list of labels; labels without a live
 * message are not in it.
 */
export const labelCountsTable: Table<Buffer, LabelCount> = {
  name: 'label_counts',
  encodeKey: bytesKey,
  encodeValue: count => joinKey(u48(count.received), u48(count.sent)),
  decodeValue: bytes => ({ received: bytes.readUIntBE(0, 6), sent: bytes.readUIntBE(6, 6) }),
  gather: asItIs,
};

const INBOX_BYTES = 16;
const NONE: LabelCount = { received: 0, sent: 0 };

function labelKey(inboxId: InboxId, label: string): Buffer {
  return joinKey(idToBytes(inboxId), text(label));
}

export function getLabelCount(reader: Reader, inboxId: InboxId, label: string): LabelCount {
  return reader.get(labelCountsTable, labelKey(inboxId, label)) ?? NONE;
}

/** Adds one message to the count of a label (`change` 1) or takes one off (-1). */
export function changeLabelCount(
  writer: Writer,
  inboxId: InboxId,
  label: string,
  kind: MessageKind,
  change: 1 | -1,
): void {
  writer.update(labelCountsTable, labelKey(inboxId, label), (before = NONE) => {
    const after = { ...before, [kind]: before[kind] + change };
    return after.received === 0 && after.sent === 0 ? undefined : after;
  });
}

/** Labels that begin with `prefix`, in binary order, those behind `after`. */
export function scanLabels(
  reader: Reader,
  inboxId: InboxId,
  prefix: string,
  after: string | null,
  limit: number,
): { readonly label: string; readonly count: LabelCount }[] {
  const labels = range(labelKey(inboxId, prefix), after === null ? null : labelKey(inboxId, after));
  return reader
    .scan(labelCountsTable, { ...labels, limit })
    .map(({ key, value }) => ({ label: key.toString('utf8', INBOX_BYTES), count: value }));
}
