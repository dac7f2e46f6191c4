import { setImmediate as nextTurn } from 'node:timers/promises';
import { UNKNOWN_TYPE } from '../../domain/message-parts.js';
import { AttachmentQueue, CHUNK_BYTES } from './attachment-queue.js';
import { HeaderFields } from './header-fields.js';
import { type AttachmentSink, defaultParseLimits, type ParsedMessage, type ParseLimits } from './limits.js';
import { type MessageHeader, readMessageHeader } from './message-header.js';
import type { MultipartForm, PartPlace } from './open-multiparts.js';
import { describePart, type PartDescription } from './part-description.js';
import { type PartHandler, PartSplitter } from './part-splitter.js';
import { TextBodies } from './text-bodies.js';

/** After this many bytes the event loop gets a turn. */
const BYTES_PER_TURN = 256 * 1024;

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
  const parts = new MessageParts(sink, limits);
  const splitter = new PartSplitter(parts, limits);
  let untilNextTurn = BYTES_PER_TURN;
  for await (const bytes of source) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let start = 0; start < chunk.length && !splitter.isDone; start += CHUNK_BYTES) {
      const step = chunk.subarray(start, start + CHUNK_BYTES);
      splitter.push(step);
      if (!parts.attachments.isEmpty) await parts.attachments.drain();
      untilNextTurn -= step.length;
      if (untilNextTurn <= 0) {
        untilNextTurn = BYTES_PER_TURN;
        await nextTurn();
      }
    }
    if (splitter.isDone) break;
  }
  splitter.end();
  await parts.attachments.drain();
  return parts.message();
}

/** Decides what each part is, and collects the contents of the parts. */
class MessageParts implements PartHandler {
  readonly attachments: AttachmentQueue;
  readonly #texts: TextBodies;
  readonly #limits: ParseLimits;
  #header: MessageHeader | null = null;
  #current: TextBodies | AttachmentQueue;

  constructor(sink: AttachmentSink, limits: ParseLimits) {
    this.attachments = new AttachmentQueue(sink);
    this.#texts = new TextBodies(limits.textBytes);
    this.#limits = limits;
    this.#current = this.#texts;
  }

  onHeader(fields: HeaderFields, place: PartPlace): MultipartForm | null {
    this.#header ??= readMessageHeader(fields, this.#limits);
    // The parts of a digest are messages by default (RFC 2046 section 5.1.5).
    const defaultType = place.parent?.kind === 'digest' ? 'message/rfc822' : 'text/plain';
    const part = describePart(fields, defaultType, this.#limits);
    if (part.multipart !== null && place.depth < this.#limits.nesting) return part.multipart;
    if (isBodyText(part, place)) {
      this.#texts.begin(part);
      this.#current = this.#texts;
    } else {
      this.attachments.begin(part, place.isRelated);
      this.#current = this.attachments;
    }
    return null;
  }

  onBody(bytes: Buffer): void {
    this.#current.write(bytes);
  }

  onEnd(): void {
    this.#current.end();
  }

  message(): ParsedMessage {
    const { fields, ids } =
      this.#header ?? readMessageHeader(new HeaderFields('message', this.#limits), this.#limits);
    return {
      content: {
        ...fields,
        text: this.#texts.text,
        html: this.#texts.html,
        attachments: this.attachments.metadata,
      },
      ids,
    };
  }
}

/**
 * True for text that is part of the body, not a file: it has no disposition but `inline` (an unknown one counts as
 * `attachment`, RFC 2183 section 2.8), and no file name, unless it stands where the body does and nothing else can be it.
 */
function isBodyText(part: PartDescription, place: PartPlace): boolean {
  const isText = part.mimeType === 'text/plain' || part.mimeType === 'text/html';
  const isInline = part.disposition === null || part.disposition === 'inline';
  const isFile = part.isNamed && (part.fileType === UNKNOWN_TYPE || !isBodyPlace(part, place));
  return isText && isInline && !isFile;
}

/** True for the whole message, each form of a `multipart/alternative`, and the root of a `multipart/related`. */
function isBodyPlace({ contentId }: PartDescription, { parent, isFirst }: PartPlace): boolean {
  if (parent === null || parent.kind === 'alternative') return true;
  return parent.kind === 'related' && (parent.start === null ? isFirst : parent.start === contentId);
}
