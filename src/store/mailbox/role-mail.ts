import { isRoleAddress } from '../../domain/addresses.js';
import { type InboxId, idToBytes } from '../../domain/ids.js';
import { bytesToParse } from '../engine/room.js';
import { jsonValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import type { BlobRef } from '../records/blobs.js';

/**
 * Mail to `postmaster` and `abuse` has to be taken whoever sends it, and no limit of an account stands against it. So
 * its bytes are counted by the inbox that it reaches, for `accept-message.ts` to keep them to a share of the disk.
 */
interface RoleMail {
  readonly bytes: number;
  /** Messages that came before this instant are not counted. */
  readonly since: number;
}

interface Received {
  readonly inboxId: InboxId;
  readonly envelopeTo: string;
  readonly receivedAt: number;
  readonly raw: BlobRef;
}

export const roleMailTable: Table<InboxId, RoleMail> = {
  name: 'role_mail',
  encodeKey: idToBytes,
  ...jsonValue<RoleMail>(1),
};

/** About what mail to role addresses takes in an inbox, contents included. */
export function roleMailBytes(reader: Reader, inboxId: InboxId): number {
  return reader.get(roleMailTable, inboxId)?.bytes ?? 0;
}

/** Counts a message that arrives. */
export function countRoleMail(writer: Writer, record: Received): void {
  if (!isRoleAddress(record.envelopeTo)) return;
  const before = writer.get(roleMailTable, record.inboxId) ?? { bytes: 0, since: record.receivedAt };
  writer.put(roleMailTable, record.inboxId, { ...before, bytes: before.bytes + bytesKept(record) });
}

/** Counts a message no longer. */
export function forgetRoleMail(writer: Writer, record: Received): void {
  if (!isRoleAddress(record.envelopeTo)) return;
  const before = writer.get(roleMailTable, record.inboxId);
  if (before === undefined || record.receivedAt < before.since) return;
  const bytes = Math.max(0, before.bytes - bytesKept(record));
  if (bytes === 0) writer.remove(roleMailTable, record.inboxId);
  else writer.put(roleMailTable, record.inboxId, { ...before, bytes });
}

/** As it came, and what parsing makes of it. */
function bytesKept({ raw }: Received): number {
  return raw.size + bytesToParse(raw.size);
}
