import type { AddressPolicy } from '../../domain/address-policy.js';
import type { AuthorRequirement } from '../../domain/author-rules.js';
import { type AccountId, type InboxId, idFromBytes, idToBytes } from '../../domain/ids.js';
import { joinKey, range, text, u8, u48 } from '../engine/keys.js';
import { bytesKey, jsonValue, noValue, type Reader, type Table, type Writer } from '../engine/tables.js';

export interface InboxRecord {
  readonly id: InboxId;
  readonly accountId: AccountId;
  readonly localPart: string;
  readonly domain: string;
  readonly name: string | null;
  readonly senderName: string | null;
  readonly createdAt: number;
}

/** Who has an address: a live inbox, or nobody ever again, because the address of a deleted inbox is retired. */
export type AddressRecord =
  | { readonly status: 'live'; readonly inboxId: InboxId }
  | { readonly status: 'retired'; readonly retiredAt: number };

export const inboxesTable: Table<InboxId, InboxRecord> = {
  name: 'inboxes',
  encodeKey: idToBytes,
  ...jsonValue<InboxRecord>(1),
  decidesAccess: true,
};

/** `local@domain` in lower case -> its owner. */
export const addressesTable: Table<string, AddressRecord> = {
  name: 'addresses',
  encodeKey: text,
  ...jsonValue<AddressRecord>(1),
};

/** [account, inbox]: the live inboxes of an account. */
export const accountInboxesTable: Table<Buffer, true> = {
  name: 'account_inboxes',
  encodeKey: bytesKey,
  ...noValue,
};

/**
 * [account, instant, inbox]: inboxes that agents of an account have created in the last day, deleted ones included.
 * Older entries go when the next one comes.
 */
export const inboxCreationsTable: Table<Buffer, true> = {
  name: 'inbox_creations',
  encodeKey: bytesKey,
  ...noValue,
};

/** Older entries that one creation forgets: more than it adds, so that they come to an end. */
const FORGOTTEN_AT_ONCE = 40;

/** Notes that an agent has created an inbox, and forgets those from before `sinceMs`. */
export function noteCreation(
  writer: Writer,
  { accountId, createdAt, id }: InboxRecord,
  sinceMs: number,
): void {
  const old = range(idToBytes(accountId), null, joinKey(idToBytes(accountId), u48(Math.max(0, sinceMs))));
  for (const key of writer.scanKeys(inboxCreationsTable, { ...old, limit: FORGOTTEN_AT_ONCE })) {
    writer.remove(inboxCreationsTable, key);
  }
  writer.put(inboxCreationsTable, joinKey(idToBytes(accountId), u48(createdAt), idToBytes(id)), true);
}

/** Instants of an account's creations from `sinceMs` to `nowMs`, oldest first, at most `limit`. */
export function recentCreations(
  reader: Reader,
  accountId: AccountId,
  { sinceMs, nowMs, limit }: { readonly sinceMs: number; readonly nowMs: number; readonly limit: number },
): number[] {
  const account = idToBytes(accountId);
  const from = joinKey(account, u48(Math.max(0, sinceMs)));
  const to = joinKey(account, u48(nowMs + 1));
  return reader.scanKeys(inboxCreationsTable, { from, to, limit }).map(key => key.readUIntBE(16, 6));
}

/** Gives a retired address free again; false when it is not retired. */
export function releaseAddress(writer: Writer, address: string): boolean {
  if (findAddress(writer, address)?.status !== 'retired') return false;
  writer.remove(addressesTable, address);
  return true;
}

export type PolicyKind = 'sending' | 'receiving';

/** Sending or receiving rules of an inbox (`getSendingPolicy`, `getReceivingPolicy`). */
export interface PolicyRecord extends AddressPolicy {
  /** Number of saved versions; 0 means never configured. */
  readonly revision: number;
  /** Of receiving rules, and in force whether the lists are enabled or not; null or absent: mail needs no proven author. */
  readonly requirement?: AuthorRequirement | null;
}

export const policiesTable: Table<{ inboxId: InboxId; kind: PolicyKind }, PolicyRecord> = {
  name: 'policies',
  encodeKey: key => joinKey(idToBytes(key.inboxId), u8(key.kind === 'sending' ? 1 : 2)),
  ...jsonValue<PolicyRecord>(1),
};

const DEFAULT_POLICY: PolicyRecord = { enabled: false, addresses: [], domains: [], revision: 0 };

export function addressOf(inbox: InboxRecord): string {
  return `${inbox.localPart}@${inbox.domain}`;
}

export function getInbox(reader: Reader, id: InboxId): InboxRecord | undefined {
  return reader.get(inboxesTable, id);
}

export function findAddress(reader: Reader, address: string): AddressRecord | undefined {
  return reader.get(addressesTable, address);
}

export function putNewInbox(writer: Writer, inbox: InboxRecord): void {
  writer.put(inboxesTable, inbox.id, inbox);
  writer.put(addressesTable, addressOf(inbox), { status: 'live', inboxId: inbox.id });
  writer.put(accountInboxesTable, joinKey(idToBytes(inbox.accountId), idToBytes(inbox.id)), true);
}

/** A new version of an inbox; its address and owner never change. */
export function putInbox(writer: Writer, inbox: InboxRecord): void {
  writer.put(inboxesTable, inbox.id, inbox);
}

/** Takes the inbox out of every lookup and retires its address. Its mail is purged by the sweeper. */
export function removeInbox(writer: Writer, inbox: InboxRecord, nowMs: number): void {
  writer.remove(inboxesTable, inbox.id);
  writer.put(addressesTable, addressOf(inbox), { status: 'retired', retiredAt: nowMs });
  writer.remove(accountInboxesTable, joinKey(idToBytes(inbox.accountId), idToBytes(inbox.id)));
  for (const kind of ['sending', 'receiving'] as const) {
    writer.remove(policiesTable, { inboxId: inbox.id, kind });
  }
}

/** The live inboxes of an account by creation. */
export function listInboxes(reader: Reader, accountId: AccountId, limit: number): InboxRecord[] {
  return inboxIdsOf(reader, accountId, limit)
    .map(id => reader.get(inboxesTable, id))
    .filter(inbox => inbox !== undefined);
}

/** How many inbox slots an account uses. The walk is bounded by its cap, which bounds what can exist. */
export function countInboxes(reader: Reader, accountId: AccountId): number {
  return inboxIdsOf(reader, accountId, Number.MAX_SAFE_INTEGER).length;
}

function inboxIdsOf(reader: Reader, accountId: AccountId, limit: number): InboxId[] {
  return reader
    .scanKeys(accountInboxesTable, { ...range(idToBytes(accountId)), limit })
    .map(key => idFromBytes<InboxId>(key, 16));
}

export function getPolicy(reader: Reader, inboxId: InboxId, kind: PolicyKind): PolicyRecord {
  return reader.get(policiesTable, { inboxId, kind }) ?? DEFAULT_POLICY;
}

/** A new version of the rules of an inbox that is there; `removeInbox` removes them with it. */
export function putPolicy(writer: Writer, inboxId: InboxId, kind: PolicyKind, policy: PolicyRecord): void {
  writer.put(policiesTable, { inboxId, kind }, policy);
}
