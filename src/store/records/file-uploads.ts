import { type AccountId, idToBytes, type UploadId } from '../../domain/ids.js';
import { joinKey, u48 } from '../engine/keys.js';
import { asItIs, jsonValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import { addBlobOwner, type BlobRef, releaseBlob } from './blobs.js';
import { addPending, removePending } from './pending.js';
import { countStored, RECORD_BYTES } from './storage.js';

/*
 * Files that accounts have uploaded to attach them later. The record owns its blob as a message owns its files: a
 * message or a draft that takes the file owns the same blob besides, and keeps it when the upload is gone.
 */

export interface FileUpload {
  readonly id: UploadId;
  readonly accountId: AccountId;
  readonly blob: BlobRef;
  /** The due instant of its entry in the pending index. */
  readonly expiresAt: number;
}

interface FileUploadKey {
  readonly accountId: AccountId;
  readonly id: UploadId;
}

/** [account, upload]: that of another account is not found. */
export const fileUploadsTable: Table<FileUploadKey, FileUpload> = {
  name: 'file_uploads',
  encodeKey: ({ accountId, id }) => joinKey(idToBytes(accountId), idToBytes(id)),
  ...jsonValue<FileUpload>(1),
};

/** Account -> bytes of its uploads, `RECORD_BYTES` for each included. */
export const uploadedBytesTable: Table<AccountId, number> = {
  name: 'uploaded_bytes',
  encodeKey: idToBytes,
  encodeValue: u48,
  decodeValue: bytes => bytes.readUIntBE(0, 6),
  gather: asItIs,
};

export function getUpload(reader: Reader, accountId: AccountId, id: UploadId): FileUpload | undefined {
  return reader.get(fileUploadsTable, { accountId, id });
}

/** Bytes that the uploads of an account count for. */
export function uploadedBytes(reader: Reader, accountId: AccountId): number {
  return reader.get(uploadedBytesTable, accountId) ?? 0;
}

/** Bytes that an upload counts for while it is there, whoever else has its file. */
export function bytesOfUpload({ blob }: { readonly blob: Pick<BlobRef, 'size'> }): number {
  return RECORD_BYTES + blob.size;
}

/** Adds an upload, whose blob it owns from now on. */
export function addUpload(writer: Writer, upload: FileUpload): void {
  writer.put(fileUploadsTable, upload, upload);
  const { id, accountId, expiresAt } = upload;
  addPending(writer, expiresAt, { kind: 'expire-upload', id, accountId });
  count(writer, accountId, bytesOfUpload(upload));
}

/** Lets an upload end at another instant; its pending entry is the caller's. */
export function redateUpload(writer: Writer, upload: FileUpload, expiresAt: number): void {
  writer.put(fileUploadsTable, upload, { ...upload, expiresAt });
}

/** Removes an upload and its pending entry. Its file goes too, at `nowMs`, unless somebody else has it. */
export function removeUpload(writer: Writer, upload: FileUpload, nowMs: number): void {
  const { id, accountId, expiresAt, blob } = upload;
  writer.remove(fileUploadsTable, upload);
  removePending(writer, { kind: 'expire-upload', dueAt: expiresAt, id });
  count(writer, accountId, -bytesOfUpload(upload));
  releaseBlob(writer, blob.id, nowMs);
}

/** The file of an upload for a record that owns it besides, in the unit of work that writes this record. */
export function shareUpload(writer: Writer, { blob }: FileUpload): BlobRef {
  addBlobOwner(writer, blob.id);
  return blob;
}

function count(writer: Writer, accountId: AccountId, change: number): void {
  // Zero is not kept.
  writer.update(uploadedBytesTable, accountId, (before = 0) => Math.max(0, before + change) || undefined);
  countStored(writer, accountId, change);
}
