import { type AccountId, type InboxId, idFromBytes, idToBytes, type MessageId } from '../../domain/ids.js';
import { inTurns } from '../../lib/slices.js';
import { joinKey, MAX_U48, range, u48 } from '../../store/engine/keys.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { FIRST_SEQ, idField, type MessageKind, scanSummaries } from '../../store/mailbox/folders.js';
import { trashTable } from '../../store/mailbox/index.js';
import type { MessageRecord } from '../../store/mailbox/messages.js';
import { type BlobRef, readBlob } from '../../store/records/blobs.js';
import { accountInboxesTable } from '../../store/records/inboxes.js';
import {
  folderNumberOf,
  listRestored,
  numberFolder,
  type RebuildPosition,
  rowOf,
} from '../../store/records/search.js';
import { getMessageOf } from '../mailbox/message-access.js';
import type { WordChange } from './word-feed.js';

/** What one step of a rebuild takes of what is stored. */
const STEP = { messages: 64, bytes: 1024 * 1024 } as const;

export interface RebuildStep {
  readonly changes: readonly WordChange[];
  /** Messages that were looked at. */
  readonly looked: number;
  /** Restored messages among them, by row: they need not be looked at again. */
  readonly restored: readonly number[];
  /** Where to go on; null at the end. */
  readonly next: RebuildPosition | null;
}

interface Found {
  readonly messages: readonly { readonly kind: MessageKind; readonly id: MessageId }[];
  readonly restored: readonly number[];
  /** After the message of that place, and after the last one. */
  readonly positionAfter: (place: number) => RebuildPosition;
  readonly next: RebuildPosition | null;
}

/**
 * One step of the walk over what an account has stored: live messages first, then Trash. So a message that moves to
 * Trash meanwhile is met there; one that comes back from there is noted (`noteRestored`) and met at the end. Messages
 * that come in, and those that are erased, tell the index themselves.
 */
export async function stepOfRebuild(
  store: Store,
  accountId: AccountId,
  position: Exclude<RebuildPosition, { phase: 'clear' }>,
): Promise<RebuildStep> {
  const found = store.read(reader => findNext(reader, accountId, position));
  const changes: WordChange[] = [];
  let bytes = 0;
  for (const [place, { kind, id }] of found.messages.entries()) {
    const message = store.read(reader => getMessageOf(reader, kind, id));
    const change = message === undefined ? null : await changeOf(store, message);
    if (change !== null) changes.push(change);
    bytes += change !== null && 'content' in change ? change.content.length : 0;
    if (bytes >= STEP.bytes && place + 1 < found.messages.length) {
      const restored = found.restored.slice(0, place + 1);
      return { changes, looked: place + 1, restored, next: found.positionAfter(place) };
    }
  }
  return { changes, looked: found.messages.length, restored: found.restored, next: found.next };
}

async function changeOf(store: Store, message: MessageRecord): Promise<WordChange | null> {
  const { content, subject, seq } = message;
  if (content === null) return null;
  const known = store.read(reader => folderNumberOf(reader, message));
  const number =
    known ?? (await store.write(writer => numberFolder(writer, message), 'settle'))?.number ?? null;
  if (number === null) return null;
  const row = rowOf(number, seq);
  try {
    return { row, subject, content: await readStart(store, content) };
  } catch {
    // Erased meanwhile, or damaged: `postern verify` tells which.
    return null;
  }
}

/** A content begins with what can be found of it: its header and its text, or the HTML where there is no text. */
const MAX_CONTENT_BYTES = 8 * 1024 * 1024;

async function readStart(store: Store, ref: BlobRef): Promise<Buffer> {
  const parts: Buffer[] = [];
  const chunks = readBlob(store, ref, 0, Math.min(ref.size, MAX_CONTENT_BYTES));
  for await (const part of inTurns(chunks)) parts.push(part);
  return Buffer.concat(parts);
}

function findNext(
  reader: Reader,
  accountId: AccountId,
  position: Exclude<RebuildPosition, { phase: 'clear' }>,
): Found {
  switch (position.phase) {
    case 'live':
      return findLive(reader, accountId, position);
    case 'trash':
      return findTrashed(reader, accountId, position);
    case 'restored': {
      const messages = listRestored(reader, accountId, STEP.messages);
      return {
        messages,
        restored: messages.map(({ row }) => row),
        positionAfter: () => position,
        // Whether more have come back is asked in the unit of work that ends the rebuild.
        next: messages.length === 0 ? null : position,
      };
    }
  }
}

/** Where a rebuild begins. */
export function firstPosition(reader: Reader, accountId: AccountId): RebuildPosition {
  const inboxId = inboxAfter(reader, accountId, null);
  return inboxId === null
    ? { phase: 'restored' }
    : { phase: 'live', inboxId, kind: 'received', seq: FIRST_SEQ };
}

function findLive(
  reader: Reader,
  accountId: AccountId,
  position: Extract<RebuildPosition, { phase: 'live' }>,
): Found {
  const { inboxId, kind, seq } = position;
  const all = { from: seq, to: MAX_U48, isDescending: false, limit: STEP.messages };
  const lines = scanSummaries(reader, { inboxId, kind }, all).map(line => ({
    seq: line.seq,
    id: idField<MessageId>(line.summary, 'id'),
  }));
  const positionAfter = (place: number): RebuildPosition => ({
    ...position,
    seq: (lines[place]?.seq ?? seq) + 1,
  });
  const next = lines.length === STEP.messages ? positionAfter(lines.length - 1) : nextFolder();
  const messages = lines.flatMap(({ id }) => (id === null ? [] : { kind, id }));
  return { messages, restored: [], positionAfter, next };

  function nextFolder(): RebuildPosition {
    if (kind === 'received') return { phase: 'live', inboxId, kind: 'sent', seq: FIRST_SEQ };
    const other = inboxAfter(reader, accountId, inboxId);
    if (other !== null) return { phase: 'live', inboxId: other, kind: 'received', seq: FIRST_SEQ };
    return trashOf(inboxAfter(reader, accountId, null));
  }
}

function findTrashed(
  reader: Reader,
  accountId: AccountId,
  { inboxId, number }: Extract<RebuildPosition, { phase: 'trash' }>,
): Found {
  const inbox = idToBytes(inboxId);
  const rest = range(inbox, joinKey(inbox, u48(number)));
  const entries = reader.scan(trashTable, { ...rest, limit: STEP.messages });
  const positionAfter = (place: number): RebuildPosition => ({
    phase: 'trash',
    inboxId,
    number: entries[place]?.key.readUIntBE(16, 6) ?? number,
  });
  const next =
    entries.length === STEP.messages
      ? positionAfter(entries.length - 1)
      : trashOf(inboxAfter(reader, accountId, inboxId));
  const messages = entries.map(({ value: { kind, id } }) => ({ kind, id }));
  return { messages, restored: [], positionAfter, next };
}

function trashOf(inboxId: InboxId | null): RebuildPosition {
  return inboxId === null ? { phase: 'restored' } : { phase: 'trash', inboxId, number: 0 };
}

/** The next inbox of an account by its id; null after the last one. */
function inboxAfter(reader: Reader, accountId: AccountId, inboxId: InboxId | null): InboxId | null {
  const account = idToBytes(accountId);
  const after = inboxId === null ? null : joinKey(account, idToBytes(inboxId));
  const [key] = reader.scanKeys(accountInboxesTable, { ...range(account, after), limit: 1 });
  return key === undefined ? null : idFromBytes<InboxId>(key, 16);
}
