import { hash } from 'node:crypto';
import { type InboxId, idFromBytes, idToBytes, type ThreadId } from '../domain/ids.js';
import { joinKey, prefixEnd, u8 } from './key-codec.js';
import type { Reader, Writer } from './reader-writer.js';
import { bytesKey, idValue, noValue, type Table } from './table.js';

/** Message-IDs have no bound that a key could rely on. */
const HASH_BYTES = 16;

/**
 * [inbox, hash of a Message-ID] -> the thread id that it was tied to when it was first seen. Later merges
 * change what that thread id stands for, not this entry.
 */
export const threadLinksTable: Table<Buffer, ThreadId> = {
  name: 'thread_links',
  encodeKey: bytesKey,
  ...idValue<ThreadId>(),
};

/** [thread id, kind, what]: what was tied to a thread id, and goes when its conversation ends. */
export const threadPartsTable: Table<Buffer, true> = {
  name: 'thread_parts',
  encodeKey: bytesKey,
  ...noValue,
};

export type ThreadPart =
  /** A Message-ID. */
  | { readonly type: 'link'; readonly hash: Buffer }
  /** A thread id that was merged into this one. */
  | { readonly type: 'merged'; readonly id: ThreadId };

const PART_BYTE = { link: 1, merged: 2 } as const;

export function hashedMessageId(messageId: string): Buffer {
  return hash('sha256', messageId, 'buffer').subarray(0, HASH_BYTES);
}

export function linkKey(inboxId: InboxId, hashed: Buffer): Buffer {
  return joinKey(idToBytes(inboxId), hashed);
}

function partKey(id: ThreadId, part: ThreadPart): Buffer {
  return joinKey(
    idToBytes(id),
    u8(PART_BYTE[part.type]),
    part.type === 'link' ? part.hash : idToBytes(part.id),
  );
}

/** Where the kind of a part stands in its key. */
const KIND_AT = 16;

export function readPartKey(key: Buffer): { readonly id: ThreadId; readonly part: ThreadPart } {
  const what = Buffer.from(key.subarray(KIND_AT + 1));
  const id = idFromBytes<ThreadId>(key);
  return key[KIND_AT] === PART_BYTE.link
    ? { id, part: { type: 'link', hash: what } }
    : { id, part: { type: 'merged', id: idFromBytes<ThreadId>(what) } };
}

/** Ties a Message-ID to a thread id. */
export function addLink(writer: Writer, inboxId: InboxId, hashed: Buffer, id: ThreadId): void {
  writer.put(threadLinksTable, linkKey(inboxId, hashed), id);
  writer.put(threadPartsTable, partKey(id, { type: 'link', hash: hashed }), true);
}

/** Notes that `merged` is another name of what `id` stands for. */
export function addMergedPart(writer: Writer, id: ThreadId, merged: ThreadId): void {
  writer.put(threadPartsTable, partKey(id, { type: 'merged', id: merged }), true);
}

export function hasPart(reader: Reader, id: ThreadId, part: ThreadPart): boolean {
  return reader.has(threadPartsTable, partKey(id, part));
}

export function removePart(writer: Writer, id: ThreadId, part: ThreadPart): void {
  writer.remove(threadPartsTable, partKey(id, part));
}

export function scanParts(reader: Reader, id: ThreadId, limit: number): ThreadPart[] {
  const from = idToBytes(id);
  const to = prefixEnd(from) ?? Buffer.alloc(KIND_AT + 1, 0xff);
  return reader.scanKeys(threadPartsTable, { from, to, limit }).map(key => readPartKey(key).part);
}
