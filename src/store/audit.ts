import type { AccountId, ApprovalId, AuditId, KeyId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import { u48 } from './key-codec.js';
import type { Reader, Writer } from './reader-writer.js';
import { jsonValue, type Table } from './table.js';

/** What happened on the way to access, and to access itself. */
export type AuditKind =
  /** A link was made for an address that may have one. */
  | 'requested'
  /** A link was asked for, or a sign-in came back, for an address that may have none. */
  | 'not_eligible'
  | 'mailed'
  | 'mail_failed'
  | 'opened'
  | 'signed_in'
  | 'approved'
  | 'claimed'
  | 'key_created'
  | 'key_revoked';

/** One line of the trail. Never holds a token, phrase or credential. */
export interface AuditEvent {
  /** Sorts by time. */
  readonly id: AuditId;
  readonly at: number;
  readonly kind: AuditKind;
  readonly email: string | null;
  readonly accountId: AccountId | null;
  readonly keyId: KeyId | null;
  /** Joins what belongs to one approval. */
  readonly approvalId: ApprovalId | null;
  /** Network address of whoever did it; null at the console and for what the daemon did by itself. */
  readonly client: string | null;
  readonly detail: string | null;
}

export const auditTable: Table<AuditId, AuditEvent> = {
  name: 'audit',
  encodeKey: idToBytes,
  ...jsonValue<AuditEvent>(1),
};

const FIRST = Buffer.alloc(16);
const END = Buffer.alloc(17, 0xff);

export function putAudit(writer: Writer, event: AuditEvent): void {
  writer.put(auditTable, event.id, event);
}

/** Newest first, those before `before`. */
export function scanAudit(reader: Reader, before: AuditId | null, limit: number): AuditEvent[] {
  const to = before === null ? END : idToBytes(before);
  return reader.scan(auditTable, { from: FIRST, to, reverse: true, limit }).map(entry => entry.value);
}

/** Removes up to `limit` events from before an instant; how many they were. Ids begin with their instant. */
export function removeAuditBefore(writer: Writer, atMs: number, limit: number): number {
  const ids = writer.scan(auditTable, { from: FIRST, to: u48(atMs), limit }).map(entry => entry.value.id);
  for (const id of ids) writer.remove(auditTable, id);
  return ids.length;
}

/** Is there an event from before this instant? */
export function hasAuditBefore(reader: Reader, atMs: number): boolean {
  return reader.scanKeys(auditTable, { from: FIRST, to: u48(atMs), limit: 1 }).length > 0;
}
