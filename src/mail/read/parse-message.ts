import { createHash } from 'node:crypto';
import type { ReceivedAttachment } from '../../contract/messages.js';
import { type AttachedFile, UNKNOWN_TYPE } from '../../domain/message-parts.js';
import { asBuffer } from '../../lib/bytes.js';
import { defaultParseLimits, type ParsedMessage, type ParseLimits } from './limits.js';
import { readMessageHeader } from './message-header.js';
import type { Part, PartDescription, PartPlace } from './part-description.js';
import { PartStreams } from './part-streams.js';
import { readPlainBounce } from './plain-bounces.js';
import { ReportParts } from './report-parts.js';
import { TextBodies } from './text-bodies.js';
import { transferEncodingOf } from './transfer-encoding.js';

/** Most bytes that are passed to the parser in one go. */
const STEP_BYTES = 64 * 1024;

/**
 * Parses a message as its bytes arrive (RFC 5322, RFC 2045 to 2047, RFC 2231). Of attachments it says where they are in
 * the message, and what their bytes come to; text and HTML bodies are held in memory, up to the limits. The source must
 * leave its chunks as they are. No content makes this fail; it rejects only when the source does.
 */
export async function parseMessage(
  source: AsyncIterable<Uint8Array>,
  limits: ParseLimits = defaultParseLimits,
): Promise<ParsedMessage> {
  const parser = new PartStreams(limits);
  const parts = new MessageParts(limits);
  const ended = parser.passTo((part, content) => parts.take(part, content));
  ended.catch(() => {});
  try {
    for await (const bytes of source) {
      for (let start = 0; start < bytes.length && !parser.isDone; start += STEP_BYTES) {
        const step = asBuffer(bytes.subarray(start, start + STEP_BYTES));
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
  const content = { ...fields, ...parts.content() };
  const report = parts.report.read(ids) ?? readPlainBounce(content.from, content.text);
  return { content, files: parts.files, ids, report };
}

/** Collects the contents of the parts. */
class MessageParts {
  readonly files: AttachedFile[] = [];
  readonly report = new ReportParts();
  readonly #texts: TextBodies;
  readonly #attachments: ReceivedAttachment[] = [];

  constructor(limits: ParseLimits) {
    this.#texts = new TextBodies(limits.textBytes);
  }

  async take(part: Part, content: AsyncIterable<Buffer>): Promise<void> {
    if (isBodyText(part)) await this.#texts.take(part.description, content);
    else await this.#attach(part, content);
  }

  content(): Pick<ParsedMessage['content'], 'text' | 'html' | 'attachments'> {
    return { text: this.#texts.text, html: this.#texts.html, attachments: this.#attachments };
  }

  async #attach(part: Part, content: AsyncIterable<Buffer>): Promise<void> {
    const { description, place, rangeOf } = part;
    const reported = this.report.collect(part);
    const hash = createHash('sha256');
    let size = 0;
    for await (const bytes of content) {
      size += bytes.length;
      hash.update(bytes);
      reported?.take(bytes);
    }
    const { start, end } = rangeOf();
    // Numbered, so that parsing the same message again gives the same ids.
    const id = `a${this.files.length + 1}`;
    const { filename } = description;
    const encoding = transferEncodingOf(description.encoding);
    const sha256 = hash.digest('base64url');
    this.files.push({ id, filename, start, length: end - start, encoding, size, sha256 });
    this.#attachments.push({
      id,
      filename,
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
