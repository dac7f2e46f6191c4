import { type Refusal, refuse } from '../../domain/errors.js';
import type { AccountId, UploadId } from '../../domain/ids.js';
import type { FileDescription, OutgoingFile } from '../../domain/message-parts.js';
import type { Purpose } from '../../store/engine/room.js';
import type { Writer } from '../../store/engine/tables.js';
import type { FilePlace } from '../../store/mailbox/messages.js';
import type { BlobUpload, BlobUploads } from '../../store/records/blob-upload.js';
import { type BlobRef, CHUNK_BYTES } from '../../store/records/blobs.js';
import { getUpload, shareUpload } from '../../store/records/file-uploads.js';

/** What was uploaded, by name, in the order in which it was begun. */
export type UploadedBlobs = ReadonlyMap<string, BlobRef>;

/**
 * What a message or a draft brings into the store: bytes under names, out of reach until `finish`. However short
 * they are they become a blob; one of up to two chunks is written by `finish` alone.
 */
export class Uploads {
  readonly #blobs: BlobUploads;
  readonly #purpose: Purpose;
  readonly #begun = new Map<string, BlobUpload>();
  #isFinished = false;

  constructor(blobs: BlobUploads, purpose: Purpose) {
    this.#blobs = blobs;
    this.#purpose = purpose;
  }

  /** Has a unit of work finished them? If it was committed they are reachable, else they must be aborted. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Begins one whose bytes come bit by bit. */
  begin(name: string): BlobUpload {
    const upload = this.#blobs.begin(this.#purpose);
    this.#begun.set(name, upload);
    return upload;
  }

  /**
   * Adds bytes that are in memory, at the pace of the store; the caller must not use the buffer again. Resolves when
   * all is written except the part that `finish` writes.
   */
  async add(name: string, bytes: Uint8Array): Promise<void> {
    const upload = this.begin(name);
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      if (!upload.write(bytes.subarray(at, at + CHUNK_BYTES))) await upload.drained();
    }
  }

  /** Ends all of them inside the unit of work that makes them reachable. */
  finish(writer: Writer): UploadedBlobs {
    this.#isFinished = true;
    return new Map([...this.#begun].map(([name, upload]) => [name, upload.finish(writer)]));
  }

  /** Aborts all of them; chunks in the store are left to the sweeper. Never throws. */
  abort(): void {
    for (const upload of this.#begun.values()) upload.abort();
  }
}

/**
 * Runs `work`, which uploads and then writes what makes the uploads reachable. Uploads that no unit of work has
 * finished, and all of them when `work` rejects, are aborted.
 */
export async function withUploads<Result>(
  blobs: BlobUploads,
  work: (uploads: Uploads) => Promise<Result>,
  purpose: Purpose = 'add',
): Promise<Result> {
  const uploads = new Uploads(blobs, purpose);
  let isKept = false;
  try {
    const result = await work(uploads);
    isKept = uploads.isFinished;
    return result;
  } finally {
    if (!isKept) uploads.abort();
  }
}

/** Ids of files within a message are their numbers. */
const fileId = (index: number): string => `${index + 1}`;
const fileName = (id: string): string => `file ${id}`;

/** A file of a draft or a message whose bytes an upload of the account has. */
export interface UploadedFile extends FileDescription {
  readonly uploadId: UploadId;
  /** In bytes. */
  readonly size: number;
}

/** A file that a message or a draft is to have: with its bytes, unless an upload has them. */
export type FileToStore = OutgoingFile | UploadedFile;

export function sizeOfFile(file: FileToStore): number {
  return 'bytes' in file ? file.bytes.length : file.size;
}

/** Uploads the files of a message or a draft that is being written, those that are not in the store yet. */
export async function addFiles(uploads: Uploads, files: readonly FileToStore[]): Promise<void> {
  for (const [index, file] of files.entries()) {
    if ('bytes' in file && file.uploadId === undefined)
      await uploads.add(fileName(fileId(index)), file.bytes);
  }
}

/**
 * What a record says of files that `addFiles` has uploaded, and of those of the account's uploads, which it owns from
 * now on too.
 * @throws not_found for an upload that has gone meanwhile
 */
export function placeFiles(
  writer: Writer,
  accountId: AccountId,
  files: readonly FileToStore[],
  blobs: UploadedBlobs,
): FilePlace[] {
  return files.map((file, index) => {
    const { filename, type, disposition, contentId, uploadId } = file;
    const id = fileId(index);
    const description = { filename, type, disposition, ...(contentId === undefined ? {} : { contentId }) };
    if (uploadId === undefined) return { id, blob: blobNamed(blobs, fileName(id)), ...description };
    const upload = getUpload(writer, accountId, uploadId);
    if (upload === undefined) throw noUpload(index);
    return { id, blob: shareUpload(writer, upload), ...description };
  });
}

/** The refusal of an upload that is not there, by the index of the attachment that refers to it. */
export function noUpload(index: number): Refusal {
  return refuse(
    'not_found',
    `attachments[${index}].upload_id: there is no such upload, it has expired, or it is not yours. Upload the file again.`,
  );
}

/** The blob that was uploaded under a name. */
export function blobNamed(blobs: UploadedBlobs, name: string): BlobRef {
  const blob = blobs.get(name);
  if (blob === undefined) throw new Error(`nothing was uploaded as ${name}`);
  return blob;
}
