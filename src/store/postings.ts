import { hash } from 'node:crypto';
import { blockOf, offsetOf, withBit, withoutBit } from './bit-block.js';
import { joinKey, text, u8, u32 } from './key-codec.js';
import { MAILBOX_BYTES, type Mailbox, mailboxKey, mailboxOfKey } from './mailboxes.js';
import type { Reader, Writer } from './reader-writer.js';
import { bytesKey, fleetingValue, type Table } from './table.js';

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

/** [inbox, kind, term, block] -> block of bits (`bit-block.ts`), good until the next read. */
export const postingsTable: Table<Buffer, Buffer> = {
  name: 'postings',
  encodeKey: bytesKey,
  ...fleetingValue,
};

/** Of the hash of an address. */
const ADDRESS_BYTES = 16;

/** The keys of a term's blocks begin with this. */
export function termPrefix(mailbox: Mailbox, term: Term): Buffer {
  return joinKey(
    mailboxKey(mailbox),
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
      return hashedAddress(term.address);
  }
}

/** Addresses in headers have no bound that a key could rely on. */
export function hashedAddress(address: string): Buffer {
  return hash('sha256', address, 'buffer').subarray(0, ADDRESS_BYTES);
}

/** A term as keys tell it. */
export type StoredTerm =
  | { readonly type: 'gone' }
  | { readonly type: 'label'; readonly label: string }
  | { readonly type: 'from' | 'recipient'; readonly hash: string };

/** What a key of the table stands for. */
export function readPostingKey(key: Buffer): { mailbox: Mailbox; term: StoredTerm; block: number } {
  const at = MAILBOX_BYTES + 1;
  const bytes = key.subarray(at, key.length - 5);
  return {
    mailbox: mailboxOfKey(key),
    term: storedTerm(key[MAILBOX_BYTES], bytes),
    block: key.readUInt32BE(key.length - 4),
  };
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
    default:
      throw new Error(`no set of messages has the number ${byte}: the store is damaged`);
  }
}

function blockKey(prefix: Buffer, block: number): Buffer {
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

/** The key of any block of a term, to be used again and again: `getBlock` writes the block's number into it. */
export function termKey(mailbox: Mailbox, term: Term): Buffer {
  return blockKey(termPrefix(mailbox, term), 0);
}

/** A block as the store holds it, good until the next read. */
export function getBlock(reader: Reader, termKey: Buffer, block: number): Buffer | undefined {
  termKey.writeUInt32BE(block, termKey.length - 4);
  return reader.get(postingsTable, termKey);
}
