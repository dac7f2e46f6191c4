import { createHash } from 'node:crypto';
import type { InboxId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import { blockOf, offsetOf, withBit, withoutBit } from './bit-block.js';
import { joinKey, text, u8, u32 } from './key-codec.js';
import { KIND_BYTE, type MessageKind } from './messages.js';
import type { Reader, Writer } from './reader-writer.js';
import { bytesKey, rawValue, type Table } from './table.js';

/** The received or the sent half of an inbox: each numbers its messages on its own. */
export interface Mailbox {
  readonly inboxId: InboxId;
  readonly kind: MessageKind;
}

/**
 * What the messages of a set have in common. `gone` holds the numbers that no list shows any more (deleted,
 * or in Trash): keeping those rather than the live ones leaves acceptance without an index to update.
 */
export type Term =
  | { readonly type: 'gone' }
  | { readonly type: 'label'; readonly label: string }
  /** A mailbox of the From header; lower case. */
  | { readonly type: 'from'; readonly address: string }
  /** A mailbox of To, Cc or Bcc; lower case. */
  | { readonly type: 'recipient'; readonly address: string };

const TERM_BYTE = { gone: 1, label: 2, from: 3, recipient: 4 } as const;

/** [inbox, kind, term, block] -> block of bits (`bit-block.ts`). */
export const postingsTable: Table<Buffer, Buffer> = {
  name: 'postings',
  encodeKey: bytesKey,
  ...rawValue,
};

/** The keys of a term's blocks begin with this. */
export function termPrefix(mailbox: Mailbox, term: Term): Buffer {
  return joinKey(
    idToBytes(mailbox.inboxId),
    u8(KIND_BYTE[mailbox.kind]),
    u8(TERM_BYTE[term.type]),
    termBytes(term),
    // Labels have no control characters, the other terms a fixed length: no prefix begins another.
    u8(0),
  );
}

function termBytes(term: Term): Buffer {
  switch (term.type) {
    case 'gone':
      return Buffer.alloc(0);
    case 'label':
      return text(term.label);
    default:
      // Addresses in headers have no bound that a key could rely on.
      return createHash('sha256').update(term.address).digest().subarray(0, 16);
  }
}

export function blockKey(prefix: Buffer, block: number): Buffer {
  return joinKey(prefix, u32(block));
}

/** Puts a message into a set; false when it is in it. */
export function addPosting(writer: Writer, mailbox: Mailbox, term: Term, seq: number): boolean {
  const key = blockKey(termPrefix(mailbox, term), blockOf(seq));
  const changed = withBit(writer.get(postingsTable, key), offsetOf(seq));
  if (changed === null) return false;
  writer.put(postingsTable, key, changed);
  return true;
}

/** Takes a message out of a set; false when it is not in it. */
export function removePosting(writer: Writer, mailbox: Mailbox, term: Term, seq: number): boolean {
  const key = blockKey(termPrefix(mailbox, term), blockOf(seq));
  const changed = withoutBit(writer.get(postingsTable, key), offsetOf(seq));
  if (changed === null) return false;
  if (changed === undefined) writer.remove(postingsTable, key);
  else writer.put(postingsTable, key, changed);
  return true;
}

export function getBlock(reader: Reader, prefix: Buffer, block: number): Buffer | undefined {
  return reader.get(postingsTable, blockKey(prefix, block));
}
