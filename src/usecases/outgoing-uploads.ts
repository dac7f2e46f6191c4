import type { BlobUpload, BlobUploads } from '../store/blob-upload.js';
import { type BlobRef, CHUNK_BYTES } from '../store/blobs.js';
import type { ContentPlace } from '../store/messages.js';
import type { Writer } from '../store/reader-writer.js';
import type { FilePlace, SentBodies } from '../store/sent.js';
import type { OutgoingContent, OutgoingFile } from './outgoing-content.js';
import { uploadWhole } from './upload-whole.js';

/** Where the parts of an outgoing message are in the store; `bodies` are the bytes to put beside the record. */
export interface PlacedContent {
  readonly content: ContentPlace;
  readonly bodies: Buffer | null;
  readonly files: readonly FilePlace[];
}

/** What an outgoing message brings into the store, out of reach until `finish`: its files, long bodies. */
export class OutgoingUploads {
  readonly #uploads: BlobUploads;
  readonly #files: { readonly file: OutgoingFile; readonly upload: BlobUpload }[] = [];
  #bodies: { readonly json: Buffer; readonly upload: BlobUpload | null } | null = null;

  constructor(uploads: BlobUploads) {
    this.#uploads = uploads;
  }

  /** Resolves when everything is written but for what `finish` writes. */
  async add(content: Pick<OutgoingContent, 'text' | 'html' | 'files'>): Promise<void> {
    const { text, html } = content;
    const bodies: SentBodies = html === null ? { text } : { text, html };
    const json = Buffer.from(JSON.stringify(bodies), 'utf8');
    const upload = json.length > CHUNK_BYTES ? this.#uploads.begin() : null;
    this.#bodies = { json, upload };
    if (upload !== null) await uploadWhole(upload, json);
    for (const file of content.files) {
      const one = { file, upload: this.#uploads.begin() };
      this.#files.push(one);
      await uploadWhole(one.upload, file.bytes);
    }
  }

  /** Ends all of them inside the unit of work that makes them reachable. */
  finish(writer: Writer): PlacedContent {
    if (this.#bodies === null) throw new Error('nothing has been added');
    const { json, upload } = this.#bodies;
    const blob: BlobRef | null = upload?.finish(writer) ?? null;
    return {
      content: blob === null ? { in: 'record' } : { in: 'blob', blob },
      bodies: blob === null ? json : null,
      files: this.#files.map(({ file, upload: own }, index) =>
        placeOf(file, `${index + 1}`, own.finish(writer)),
      ),
    };
  }

  abort(): void {
    this.#bodies?.upload?.abort();
    for (const { upload } of this.#files) upload.abort();
  }
}

function placeOf(
  { filename, type, disposition, contentId }: OutgoingFile,
  id: string,
  blob: BlobRef,
): FilePlace {
  const place = { id, blob, filename, type, disposition };
  return contentId === undefined ? place : { ...place, contentId };
}
