import { type AccountId, idFromBytes } from '../../domain/ids.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { getAccount } from '../records/accounts.js';
import { bytesOfUpload, fileUploadsTable, uploadedBytesTable } from '../records/file-uploads.js';
import { pendingEntry } from './accounts-and-pending.js';
import type { Ledger } from './ledger.js';
import { blobEntry } from './sets-and-blobs.js';
import type { StoredTally } from './stored-bytes.js';

const sumEntry = (accountId: string, bytes: number): string =>
  `bytes of the uploads of account ${accountId}: ${bytes}`;

/**
 * Holds uploads against their files, their sums and when they end.
 * @returns how many there are
 */
export function verifyFileUploads(reader: Reader, ledger: Ledger, stored: StoredTally): number {
  let count = 0;
  const sums = new Map<AccountId, number>();
  for (const { value: upload } of walkTable(reader, fileUploadsTable)) {
    count += 1;
    const { id, accountId, blob, expiresAt } = upload;
    ledger.expect(blobEntry(blob));
    ledger.expect(pendingEntry.expireUpload(id, accountId, expiresAt));
    if (getAccount(reader, accountId) === undefined) ledger.expect(`account ${accountId} of upload ${id}`);
    stored.addOf(accountId, bytesOfUpload(upload));
    sums.set(accountId, (sums.get(accountId) ?? 0) + bytesOfUpload(upload));
  }
  for (const { key, value } of walkTable(reader, uploadedBytesTable)) {
    if (value > 0) ledger.find(sumEntry(idFromBytes<AccountId>(key), value));
  }
  for (const [accountId, bytes] of sums) ledger.expect(sumEntry(accountId, bytes));
  return count;
}
