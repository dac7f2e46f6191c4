import type { DraftId } from '../../domain/ids.js';
import type { OutgoingBody, OutgoingFile } from '../../domain/message-parts.js';
import type { Writer } from '../../store/engine/tables.js';
import type { ContentPlace, FilePlace, SentBodies } from '../../store/mailbox/messages.js';
import type { BlobUpload, BlobUploads } from '../../store/records/blob-upload.js';
import { type BlobRef, CHUNK_BYTES } from '../../store/records/blobs.js';
import {
  type DraftRecord,
  type DraftText,
  draftTextsTable,
  type TextPlace,
} from '../../store/records/drafts.js';

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
  async add(content: Pick<OutgoingBody, 'text' | 'html' | 'files'>): Promise<void> {
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

/** Parts of a draft to store; what is absent stays as it is, null takes away. */
export interface DraftParts {
  readonly text?: string;
  readonly html?: string | null;
  readonly files?: readonly OutgoingFile[];
}

/** How many bytes they bring into the store. */
export function bytesOfParts({ text, html, files = [] }: DraftParts): number {
  const texts = Buffer.byteLength(text ?? '') + Buffer.byteLength(html ?? '');
  return files.reduce((sum, { bytes }) => sum + bytes.length, texts);
}

type PlacedParts = Partial<Pick<DraftRecord, 'text' | 'html' | 'files'>>;

interface TextUpload {
  readonly bytes: Buffer;
  /** Null when it is short enough to lie beside the record. */
  readonly upload: BlobUpload | null;
}

/** What a change of a draft brings into the store, out of reach until `finish`. */
export class DraftUploads {
  readonly #uploads: BlobUploads;
  readonly #texts = new Map<DraftText, TextUpload | null>();
  #files: { readonly file: OutgoingFile; readonly upload: BlobUpload }[] | null = null;

  constructor(uploads: BlobUploads) {
    this.#uploads = uploads;
  }

  /** Resolves when everything is written but for what `finish` writes. */
  async add({ text, html, files }: DraftParts): Promise<void> {
    if (text !== undefined) await this.#addText('text', text);
    if (html !== undefined) await this.#addText('html', html);
    if (files === undefined) return;
    this.#files = [];
    for (const file of files) {
      const upload = this.#uploads.begin();
      this.#files.push({ file, upload });
      await uploadWhole(upload, file.bytes);
    }
  }

  /** Ends all of them inside the unit of work that makes them reachable. */
  finish(writer: Writer, id: DraftId): PlacedParts {
    const placed: { -readonly [Field in keyof PlacedParts]: PlacedParts[Field] } = {};
    for (const [field, text] of this.#texts) placed[field] = placeText(writer, id, field, text);
    if (this.#files !== null) {
      placed.files = this.#files.map(({ file, upload }, index): FilePlace => {
        const { bytes: _bytes, ...description } = file;
        return { ...description, id: `${index + 1}`, blob: upload.finish(writer) };
      });
    }
    return placed;
  }

  abort(): void {
    for (const text of this.#texts.values()) text?.upload?.abort();
    for (const { upload } of this.#files ?? []) upload.abort();
  }

  async #addText(field: DraftText, text: string | null): Promise<void> {
    if (text === null || (text === '' && field === 'text')) {
      this.#texts.set(field, null);
      return;
    }
    const bytes = Buffer.from(text, 'utf8');
    const upload = bytes.length > CHUNK_BYTES ? this.#uploads.begin() : null;
    this.#texts.set(field, { bytes, upload });
    if (upload !== null) await uploadWhole(upload, bytes);
  }
}

function placeText(writer: Writer, id: DraftId, field: DraftText, text: TextUpload | null): TextPlace | null {
  if (text === null) return null;
  const size = text.bytes.length;
  if (text.upload !== null) return { in: 'blob', size, blob: text.upload.finish(writer) };
  writer.put(draftTextsTable, { id, field }, text.bytes);
  return { in: 'record', size };
}

/** Writes bytes that are in memory, no faster than the store takes them. */
export async function uploadWhole(upload: BlobUpload, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (!upload.write(bytes.subarray(at, at + CHUNK_BYTES))) await upload.drained();
  }
}
