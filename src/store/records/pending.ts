import {
  type AccountId,
  type ApprovalId,
  type BlobId,
  type DeliveryId,
  type InboxId,
  idToBytes,
  type MessageId,
  type SuppressionId,
  type ThreadId,
  type UploadId,
  type WebhookId,
} from '../../domain/ids.js';
import { joinKey, range, text, u8, u48 } from '../engine/keys.js';
import type { Store } from '../engine/store.js';
import { bytesKey, jsonValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import type { MessageKind } from '../mailbox/folders.js';

/**
 * What must happen next, by kind and due instant. Queues and the sweeper are fed from it, so nothing depends on Redis
 * or on memory. An entry is written in the commit that makes the work necessary and removed in the commit that
 * completes it.
 */
export type PendingWork =
  | { readonly kind: 'parse'; readonly id: MessageId }
  /** Find out once more who has written a message, because DNS did not answer. */
  | { readonly kind: 'authenticate'; readonly id: MessageId }
  /** Free the chunks of a blob that nothing refers to any more. */
  | { readonly kind: 'purge-blob'; readonly id: BlobId }
  /** Delete what a deleted inbox held. */
  | { readonly kind: 'purge-inbox'; readonly id: InboxId }
  /** Erase a message whose time in Trash is over. */
  | { readonly kind: 'purge-trash'; readonly id: MessageId; readonly message: MessageKind }
  /** Hand a sent message to the relay; stays until its outcome is saved. */
  | { readonly kind: 'relay'; readonly id: MessageId }
  /** A send whose attempt never started and is too old to start by itself: for the admin to see. */
  | { readonly kind: 'relay-held'; readonly id: MessageId }
  /** Deliver a message to a domain; stays until every recipient has its outcome and its sender has been told. */
  | { readonly kind: 'deliver'; readonly id: DeliveryId }
  /** Forget charges of an account that have expired. */
  | { readonly kind: 'expire-charges'; readonly id: AccountId }
  /** Free what a conversation that has ended left under one of its ids. */
  | { readonly kind: 'purge-thread'; readonly id: ThreadId; readonly inboxId: InboxId }
  /** Forget the events of an account before a sequence; all of them, where none have come since (null). */
  | { readonly kind: 'expire-events'; readonly id: AccountId; readonly before: number | null }
  /** Forget an idempotency key; `id` is that of the resource it made. */
  | { readonly kind: 'expire-key'; readonly id: string; readonly key: IdempotencyKey }
  /** Forget a link with which somebody could approve; `hash` is its key, in hexadecimal. */
  | { readonly kind: 'expire-link'; readonly id: ApprovalId; readonly hash: string }
  /** Forget a claim phrase that nobody redeemed. */
  | { readonly kind: 'expire-phrase'; readonly id: ApprovalId; readonly hash: string }
  /** Tell a human by mail of a webhook: that it was made, leads elsewhere, or is disabled. */
  | {
      readonly kind: 'webhook-mail';
      readonly id: WebhookId;
      readonly accountId: AccountId;
      readonly url: string;
      readonly what: WebhookNews;
      /** How often that was tried. */
      readonly tries: number;
      /** The human has it, the operator has not. */
      readonly isHumanTold?: true;
    }
  /** Mail the operator how much feedback an account has given. */
  | { readonly kind: 'feedback-digest'; readonly id: AccountId }
  /** Tell the search index of an account what it does not know yet (`store/records/search.ts`). */
  | { readonly kind: 'index'; readonly id: AccountId }
  /** Forget a file that was uploaded. */
  | { readonly kind: 'expire-upload'; readonly id: UploadId; readonly accountId: AccountId }
  /** Let an account send to an address again that it has learnt to be suppressed. */
  | {
      readonly kind: 'lapse-suppression';
      readonly id: SuppressionId;
      readonly accountId: AccountId;
      readonly address: string;
    };

/** What is told of a webhook. */
export type WebhookNews = 'made' | 'url' | 'gone' | 'dead';

export type PendingKind = PendingWork['kind'];

/** Later than any due time a key can store: lists all pending work. */
export const END_OF_TIME = 2 ** 48 - 2;

const KIND_BYTE: Record<PendingKind, number> = {
  parse: 1,
  'purge-blob': 2,
  'purge-inbox': 3,
  'expire-key': 4,
  'purge-trash': 5,
  relay: 6,
  'relay-held': 7,
  'expire-charges': 8,
  'purge-thread': 9,
  deliver: 10,
  authenticate: 11,
  index: 12,
  'expire-link': 20,
  'expire-phrase': 21,
  'feedback-digest': 22,
  'lapse-suppression': 23,
  'expire-events': 24,
  'webhook-mail': 25,
  'expire-upload': 26,
};

interface PendingKey {
  readonly kind: PendingKind;
  readonly dueAt: number;
  readonly id: string;
}

const pendingKey = (key: PendingKey): Buffer =>
  joinKey(u8(KIND_BYTE[key.kind]), u48(key.dueAt), idToBytes(key.id));

export const pendingTable: Table<Buffer, PendingWork> = {
  name: 'pending',
  encodeKey: bytesKey,
  ...jsonValue<PendingWork>(1),
};

export function addPending(writer: Writer, dueAt: number, work: PendingWork): void {
  writer.put(pendingTable, pendingKey({ kind: work.kind, dueAt, id: work.id }), work);
}

export function removePending(writer: Writer, key: PendingKey): void {
  writer.remove(pendingTable, pendingKey(key));
}

/** The work that has this key; undefined when none has. */
export function getPending<Kind extends PendingKind>(
  reader: Reader,
  key: PendingKey & { readonly kind: Kind },
): Extract<PendingWork, { kind: Kind }> | undefined {
  return reader.get(pendingTable, pendingKey(key)) as Extract<PendingWork, { kind: Kind }> | undefined;
}

export interface DueWork<Kind extends PendingKind> {
  readonly dueAt: number;
  readonly work: Extract<PendingWork, { kind: Kind }>;
  /** Where to go on: pass it as `after`. */
  readonly position: Buffer;
}

/** Work of one kind that is due at `nowMs`, oldest first. */
export function listDue<Kind extends PendingKind>(
  reader: Reader,
  kind: Kind,
  nowMs: number,
  limit: number,
  after?: Buffer,
): DueWork<Kind>[] {
  const kindByte = u8(KIND_BYTE[kind]);
  const due = range(kindByte, after, joinKey(kindByte, u48(nowMs + 1)));
  return reader.scan(pendingTable, { ...due, limit }).map(({ key, value }) => ({
    dueAt: key.readUIntBE(1, 6),
    work: value as Extract<PendingWork, { kind: Kind }>,
    position: key,
  }));
}

/** Work of one kind that is due after `lastMs`, the soonest first; from the position `after` on if that is later. */
export function listDueAfter<Kind extends PendingKind>(
  reader: Reader,
  kind: Kind,
  lastMs: number,
  limit: number,
  after?: Buffer,
): DueWork<Kind>[] {
  const first = joinKey(u8(KIND_BYTE[kind]), u48(lastMs + 1));
  const isLater = after !== undefined && Buffer.compare(after, first) > 0;
  return listDue(reader, kind, END_OF_TIME, limit, isLater ? after : first);
}

/**
 * All work of one kind, due or not, page by page, oldest first. Each page is its own short read, so the caller may
 * write between pages; work added after the current position is met too.
 */
export function* pendingPages<Kind extends PendingKind>(
  store: Store,
  kind: Kind,
): Generator<readonly DueWork<Kind>[], void> {
  let after: Buffer | undefined;
  for (;;) {
    const page = store.read(reader => listDue(reader, kind, END_OF_TIME, PAGE, after));
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.position;
  }
}

/** Entries of a page: as many as one unit of work may change. */
const PAGE = 500;

/** How long the oldest due work of a kind has been waiting, in milliseconds; null when none waits. */
export function oldestDueAge(reader: Reader, kind: PendingKind, nowMs: number): number | null {
  const [oldest] = listDue(reader, kind, nowMs, 1);
  return oldest === undefined ? null : nowMs - oldest.dueAt;
}

/** How much work of a kind is due, counted up to `limit`. */
export function countDue(reader: Reader, kind: PendingKind, nowMs: number, limit: number): number {
  const kindByte = u8(KIND_BYTE[kind]);
  const due = range(kindByte, undefined, joinKey(kindByte, u48(nowMs + 1)));
  return reader.scanKeys(pendingTable, { ...due, limit }).length;
}

export const PENDING_KINDS = Object.keys(KIND_BYTE) as readonly PendingKind[];

/** Namespaces of idempotency keys. Each account has its own; a key of one namespace is unknown in the others. */
export type KeyNamespace = 'inbox' | 'draft' | 'send';

const NAMESPACE_BYTE: Record<KeyNamespace, number> = { inbox: 1, draft: 2, send: 3 };

export interface IdempotencyKey {
  readonly accountId: AccountId;
  readonly namespace: KeyNamespace;
  /** 1 to 128 characters of `A-Za-z0-9_-`. */
  readonly key: string;
}

export interface IdempotencyRecord {
  /** Digest of the normalised input that the key was first used with. */
  readonly intent: string;
  /** Id of the resource that came of it. */
  readonly resultId: string;
  readonly expiresAt: number;
}

export const idempotencyTable: Table<IdempotencyKey, IdempotencyRecord> = {
  name: 'idempotency',
  encodeKey: key => joinKey(idToBytes(key.accountId), u8(NAMESPACE_BYTE[key.namespace]), text(key.key)),
  ...jsonValue<IdempotencyRecord>(1),
};

/** The record of a key that is still protected at `nowMs`; an expired key acts as if it had never been used. */
export function findActiveKey(
  reader: Reader,
  key: IdempotencyKey,
  nowMs: number,
): IdempotencyRecord | undefined {
  const record = reader.get(idempotencyTable, key);
  return record !== undefined && record.expiresAt > nowMs ? record : undefined;
}

/** Protects a key until its time is over, when it is forgotten. */
export function putKey(writer: Writer, key: IdempotencyKey, record: IdempotencyRecord): void {
  writer.put(idempotencyTable, key, record);
  addPending(writer, record.expiresAt, { kind: 'expire-key', id: record.resultId, key });
}

/** Forgets a key whose protection has ended; keeps one that was used again since. */
export function removeExpiredKey(writer: Writer, key: IdempotencyKey, nowMs: number): void {
  const record = writer.get(idempotencyTable, key);
  if (record !== undefined && record.expiresAt <= nowMs) writer.remove(idempotencyTable, key);
}
