import type { ReceivedAttachment } from '../../contract/messages.js';
import type { AttachmentSink } from './limits.js';
import type { PartDescription } from './part-description.js';
import { createTransferDecoder, type TransferDecoder } from './transfer-decoders.js';

/** Size of the chunks that a sink gets; the last one of an attachment may be shorter. */
export const CHUNK_BYTES = 64 * 1024;

interface OpenAttachment {
  readonly id: string;
  readonly part: PartDescription;
  readonly isRelated: boolean;
  readonly decoder: TransferDecoder;
  /** Decoded bytes that do not fill a chunk yet. */
  pieces: Buffer[];
  pending: number;
  size: number;
}

/**
 * Decodes attachments and queues the calls of the sink. `drain` is awaited after each chunk given to the splitter, so
 * the queue never holds more than one chunk gives.
 */
export class AttachmentQueue {
  readonly #sink: AttachmentSink;
  readonly #metadata: ReceivedAttachment[] = [];
  #open: OpenAttachment | null = null;
  #calls: (() => void | Promise<void>)[] = [];

  constructor(sink: AttachmentSink) {
    this.#sink = sink;
  }

  get metadata(): readonly ReceivedAttachment[] {
    return this.#metadata;
  }

  begin(part: PartDescription, isRelated: boolean): void {
    // Numbered, so that parsing the same message again gives the same ids.
    const id = `a${this.#metadata.length + 1}`;
    const decoder = createTransferDecoder(part.encoding);
    this.#open = { id, part, isRelated, decoder, pieces: [], pending: 0, size: 0 };
    this.#calls.push(() => this.#sink.begin(id));
  }

  write(bytes: Buffer): void {
    if (this.#open !== null) this.#add(this.#open, this.#open.decoder.write(bytes));
  }

  end(): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    this.#add(open, open.decoder.end());
    this.#release(open, open.pending);
    const { id, part, size, isRelated } = open;
    this.#calls.push(() => this.#sink.end(size));
    this.#metadata.push({
      id,
      filename: part.filename,
      size,
      mime_type: part.fileType,
      disposition: part.disposition,
      content_id: part.contentId,
      related: isRelated,
    });
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** Makes the queued calls of the sink, and waits for each that returns a promise. */
  async drain(): Promise<void> {
    const calls = this.#calls;
    this.#calls = [];
    for (const call of calls) {
      const pending = call();
      if (pending !== undefined) await pending;
    }
  }

  #add(open: OpenAttachment, decoded: Buffer): void {
    if (decoded.length === 0) return;
    open.pieces.push(decoded);
    open.pending += decoded.length;
    open.size += decoded.length;
    if (open.pending >= CHUNK_BYTES) this.#release(open, open.pending - (open.pending % CHUNK_BYTES));
  }

  /** Queues the first `length` pending bytes in chunks, and keeps the rest. */
  #release(open: OpenAttachment, length: number): void {
    if (length === 0) return;
    const bytes = open.pieces.length === 1 ? (open.pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(open.pieces);
    for (let start = 0; start < length; start += CHUNK_BYTES) {
      // A copy with memory of its own, which the sink may keep or transfer.
      const chunk = new Uint8Array(bytes.subarray(start, Math.min(length, start + CHUNK_BYTES)));
      this.#calls.push(() => this.#sink.write(chunk));
    }
    open.pieces = length < bytes.length ? [bytes.subarray(length)] : [];
    open.pending = bytes.length - length;
  }
}
