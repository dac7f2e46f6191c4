import { createHash } from 'node:crypto';
import type { Deleted } from '../../contract/common.js';
import { MAX_UPLOADS_BYTES } from '../../contract/limits.js';
import type { Upload } from '../../contract/uploads.js';
import { notFound, refuse } from '../../domain/errors.js';
import { type AccountId, newId, toId, type UploadId } from '../../domain/ids.js';
import { DAY_MS, toInstant } from '../../domain/instants.js';
import { NoRoomError } from '../../store/engine/room.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import type { BlobUploads } from '../../store/records/blob-upload.js';
import { addUpload, bytesOfUpload, removeUpload, uploadedBytes } from '../../store/records/file-uploads.js';
import type { Clock } from '../ports.js';
import { findUpload } from '../shared/given-files.js';
import { checkStorage, MIB, type StorageLimits } from '../shared/storage.js';
import { blobNamed, withUploads } from '../shared/uploads.js';

/** How long an uploaded file can be attached, in milliseconds. */
export const UPLOAD_LIFETIME_MS = DAY_MS;

/** Bytes from outside that are still to be read, once. */
export interface IncomingBytes {
  /** How many they are said to be; null when that is not said. */
  readonly declaredBytes: number | null;
  /**
   * Gives all of them to `sink`, as they come.
   * @throws what makes it impossible: they are too many, come too slowly, or end too early
   */
  read(sink: ByteSink): Promise<void>;
}

export interface ByteSink {
  /** Takes bytes; the giver must not use the buffer again. False when it should wait for `drained()`. */
  write(bytes: Uint8Array): boolean;
  drained(): Promise<void>;
}

export interface UploadDeps {
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly quota: { readonly limits: StorageLimits };
}

/**
 * Stores a file to be attached later (`createUpload`). Its bytes go into the store as they come; they are reachable,
 * and count, from the one commit on that has the last of them. Whatever ends before leaves nothing.
 * @throws storage_limit_reached, before anything is read where the length is declared
 */
export async function createUpload(
  deps: UploadDeps,
  { accountId, file }: { readonly accountId: AccountId; readonly file: IncomingBytes },
): Promise<Upload> {
  const { store, clock, quota, uploads } = deps;
  const declaredBytes = file.declaredBytes ?? 0;
  store.read(reader => checkShare(reader, quota.limits, accountId, declaredBytes));
  if (!store.room.hasRoomFor(declaredBytes)) throw new NoRoomError();
  return withUploads(uploads, async begun => {
    const upload = begun.begin(FILE);
    const hash = createHash('sha256');
    await file.read({
      write: bytes => {
        hash.update(bytes);
        return upload.write(bytes);
      },
      drained: () => upload.drained(),
    });
    const sha256 = hash.digest('hex');
    return await store.write(writer => {
      checkShare(writer, quota.limits, accountId, upload.size);
      const nowMs = clock();
      const blob = blobNamed(begun.finish(writer), FILE);
      const id = newId<UploadId>(nowMs);
      const expiresAt = nowMs + UPLOAD_LIFETIME_MS;
      addUpload(writer, { id, accountId, blob, expiresAt });
      return { upload_id: id, size: blob.size, sha256, expires_at: toInstant(expiresAt) };
    });
  });
}

const FILE = 'file';

/** Uploads have a share of what an account may store, so that files nobody attaches leave room for mail. */
function checkShare(reader: Reader, limits: StorageLimits, accountId: AccountId, bytes: number): void {
  checkStorage(reader, limits, accountId, bytes);
  const used = uploadedBytes(reader, accountId);
  if (used + bytesOfUpload({ blob: { size: bytes } }) <= MAX_UPLOADS_BYTES) return;
  throw refuse(
    'storage_limit_reached',
    `The account has ${(used / MIB).toFixed(1)} MiB of uploads, of ${MAX_UPLOADS_BYTES / MIB} MiB; nothing was stored. Delete uploads that are not needed any more (deleteUpload), or wait until some expire.`,
  );
}

/** Deletes an upload before its time is over (`deleteUpload`). */
export function deleteUpload(
  deps: Pick<UploadDeps, 'store' | 'clock'>,
  {
    accountId,
    uploadId,
  }: { readonly accountId: AccountId /** Text from outside. */; readonly uploadId: string },
): Promise<Deleted> {
  const { store, clock } = deps;
  return store.write(writer => {
    const upload = findUpload(writer, clock, accountId, toId<UploadId>(uploadId));
    if (upload === null) throw notFound('upload');
    removeUpload(writer, upload, clock());
    return {
      id: upload.id,
      status: 'deletion_pending' as const,
      message: 'The upload is gone; messages and drafts that have its file keep it.',
    };
  }, 'settle');
}
