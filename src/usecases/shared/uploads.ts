import type { OutgoingFile } from '../../domain/message-parts.js';
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
  readonly #begun = new Map<string, BlobUpload>();
  #isFinished = false;

  constructor(blobs: BlobUploads) {
    this.#blobs = blobs;
  }

  /** Has a unit of work taken them? If it was committed they are reachable, else they are to be given up. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Begins one whose bytes come bit by bit. */
  begin(name: string): BlobUpload {
    const upload = this.#blobs.begin();
    this.#begun.set(name, upload);
    return upload;
  }

  /**
   * Takes bytes that are in memory, no faster than the store does; the caller gives them up. Resolves when they are
   * written but for what `finish` writes.
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

  /** Gives all of them up; what is in the store already is left to the sweeper. Never throws. */
  abort(): void {
    for (const upload of this.#begun.values()) upload.abort();
  }
}

/**
 * Lets `work` upload and write what makes the uploads reachable: when it resolves they are kept if a unit of work
 * has finished them, and given up otherwise; when it rejects they are given up.
 */
export async function withUploads<Result>(
  blobs: BlobUploads,
  work: (uploads: Uploads) => Promise<Result>,
): Promise<Result> {
  const uploads = new Uploads(blobs);
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
