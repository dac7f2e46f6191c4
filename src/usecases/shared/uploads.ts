import type { OutgoingFile } from '../../domain/message-parts.js';
import type { Purpose } from '../../store/engine/room.js';
import type { Writer } from '../../store/engine/tables.js';
import type { FilePlace } from '../../store/mailbox/messages.js';
import type { BlobUpload, BlobUploads } from '../../store/records/blob-upload.js';
import { type BlobRef, CHUNK_BYTES } from '../../store/records/blobs.js';

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

/** Uploads the files of a message that is being written. */
export async function addFiles(uploads: Uploads, files: readonly OutgoingFile[]): Promise<void> {
  for (const [index, { bytes }] of files.entries()) await uploads.add(fileName(fileId(index)), bytes);
}

/** What a record says of files that `addFiles` has uploaded. */
export function placeFiles(files: readonly OutgoingFile[], blobs: UploadedBlobs): FilePlace[] {
  return files.map(({ bytes: _bytes, ...description }, index) => {
    const id = fileId(index);
    return { ...description, id, blob: blobNamed(blobs, fileName(id)) };
  });
}

/** The blob that was uploaded under a name. */
export function blobNamed(blobs: UploadedBlobs, name: string): BlobRef {
  const blob = blobs.get(name);
  if (blob === undefined) throw new Error(`nothing was uploaded as ${name}`);
  return blob;
}
