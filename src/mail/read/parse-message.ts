import type { ReceivedAttachment } from '../../contract/messages.js';
import { UNKNOWN_TYPE } from '../../domain/message-parts.js';
import { type AttachmentSink, defaultParseLimits, type ParsedMessage, type ParseLimits } from './limits.js';
import { readMessageHeader } from './message-header.js';
import type { Part, PartDescription, PartPlace } from './part-description.js';
import { PartStreams } from './part-streams.js';
import { TextBodies } from './text-bodies.js';

/** Size of the chunks that a sink gets; the last one of an attachment may be shorter. Also the most read in one go. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Parses a message as its bytes arrive (RFC 5322, RFC 2045 to 2047, RFC 2231). Attachments are decoded into the sink
 * and not held in memory; text and HTML bodies are, up to the limits. The source may reuse the memory of a chunk once
 * it is asked for the next. No content makes this fail; it rejects only when the source or the sink does.
 */
export async function parseMessage(
  source: AsyncIterable<Uint8Array>,
  sink: AttachmentSink,
  limits: ParseLimits = defaultParseLimits,
): Promise<ParsedMessage> {
  const parser = new PartStreams(limits);
  const parts = new MessageParts(sink, limits);
  const ended = parser.passTo((part, content) => parts.take(part, content));
  ended.catch(() => {});
  try {
    for await (const bytes of source) {
      for (let start = 0; start < bytes.length && !parser.isDone; start += CHUNK_BYTES) {
        // A copy: the library keeps views of it.
        const step = Buffer.from(bytes.subarray(start, start + CHUNK_BYTES));
        await Promise.race([ended, new Promise(resolve => parser.write(step, resolve))]);
      }
      if (parser.isDone) break;
    }
    parser.end();
    await ended;
  } finally {
    parser.destroy();
  }
  const { fields, ids } = readMessageHeader(parser.header, limits);
  return { content: { ...fields, ...parts.content() }, ids };
}

/** Collects the contents of the parts. */
class MessageParts {
  readonly #sink: AttachmentSink;
  readonly #texts: TextBodies;
  readonly #attachments: ReceivedAttachment[] = [];

  constructor(sink: AttachmentSink, limits: ParseLimits) {
    this.#sink = sink;
    this.#texts = new TextBodies(limits.textBytes);
  }

  async take(part: Part, content: AsyncIterable<Buffer>): Promise<void> {
    if (isBodyText(part)) await this.#texts.take(part.description, content);
    else await this.#store(part, content);
  }

  content(): Pick<ParsedMessage['content'], 'text' | 'html' | 'attachments'> {
    return { text: this.#texts.text, html: this.#texts.html, attachments: this.#attachments };
  }

  async #store({ description, place }: Part, content: AsyncIterable<Buffer>): Promise<void> {
    const sink = this.#sink;
    // Numbered, so that parsing the same message again gives the same ids.
    const id = `a${this.#attachments.length + 1}`;
    await sink.begin(id);
    let size = 0;
    // Each with memory of its own, which the sink may keep or transfer.
    let chunk = new Uint8Array(CHUNK_BYTES);
    let filled = 0;
    for await (const bytes of content) {
      size += bytes.length;
      for (let at = 0; at < bytes.length; ) {
        const piece = bytes.subarray(at, at + CHUNK_BYTES - filled);
        chunk.set(piece, filled);
        filled += piece.length;
        at += piece.length;
        if (filled < CHUNK_BYTES) continue;
        await sink.write(chunk);
        chunk = new Uint8Array(CHUNK_BYTES);
        filled = 0;
      }
    }
    if (filled > 0) await sink.write(chunk.slice(0, filled));
    await sink.end(size);
    this.#attachments.push({
      id,
      filename: description.filename,
      size,
      mime_type: description.fileType,
      disposition: description.disposition,
      content_id: description.contentId,
      related: place.isRelated,
    });
  }
}

/**
 * True for text that is part of the body, not a file: it has no disposition but `inline` (an unknown one counts as
 * `attachment`, RFC 2183 section 2.8), and no file name, unless it stands where the body does and nothing else can be it.
 */
function isBodyText({ description, place }: Part): boolean {
  const { mimeType, disposition } = description;
  const isText = mimeType === 'text/plain' || mimeType === 'text/html';
  const isInline = disposition === null || disposition === 'inline';
  const isFile =
    description.isNamed && (description.fileType === UNKNOWN_TYPE || !isBodyPlace(description, place));
  return isText && isInline && !isFile;
}

/** True for the whole message, each form of a `multipart/alternative`, and the root of a `multipart/related`. */
function isBodyPlace({ contentId }: PartDescription, { parent, isFirst }: PartPlace): boolean {
  if (parent === null || parent.kind === 'alternative') return true;
  return parent.kind === 'related' && (parent.start === null ? isFirst : parent.start === contentId);
}
