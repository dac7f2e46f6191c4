import { utf8End } from '../../lib/bytes.js';
import type { PartDescription } from './part-description.js';
import { TextStream } from './text-stream.js';

/**
 * Collects the text and HTML bodies. Parts of the same kind are joined in their order, each on a new line.
 */
export class TextBodies {
  /** Bytes that may still be kept. */
  #room: number;
  readonly #texts: string[] = [];
  readonly #htmls: string[] = [];

  constructor(maxBytes: number) {
    this.#room = maxBytes;
  }

  /** @param content the bytes of the part, without their transfer encoding */
  async take(part: PartDescription, content: AsyncIterable<Buffer>): Promise<void> {
    const isHtml = part.mimeType === 'text/html';
    const stream = new TextStream(part.charset, isHtml);
    for await (const bytes of content) {
      const kept = bytes.subarray(0, utf8End(bytes, this.#room));
      this.#room = kept.length < bytes.length ? 0 : this.#room - kept.length;
      if (kept.length > 0) stream.write(kept);
    }
    const text = stream.end();
    if (isHtml) this.#htmls.push(text);
    else this.#texts.push(part.isFlowed ? unflow(text, part.deletesFlowSpace) : text);
  }

  /** Null when there was no part of that kind. */
  get text(): string | null {
    return joined(this.#texts);
  }

  get html(): string | null {
    return joined(this.#htmls);
  }
}

function joined(bodies: readonly string[]): string | null {
  if (bodies.length === 0) return null;
  const pieces: string[] = [];
  for (const body of bodies.filter(text => text !== '')) {
    if (pieces.length > 0 && pieces.at(-1)?.endsWith('\n') !== true) pieces.push('\n');
    pieces.push(body);
  }
  return pieces.join('');
}

/** Pieces are joined in blocks: millions of small strings would take many times the memory of the text. */
const PIECES_PER_BLOCK = 8_192;

/**
 * Joins the lines of format=flowed text (RFC 3676 section 4). A line that ends in a space continues on the next line of
 * the same quote depth. Space-stuffing is removed, quote marks stay, and the signature separator stays a line of its
 * own. Lines end in LF before and after.
 */
function unflow(text: string, deletesSpace: boolean): string {
  const blocks: string[] = [];
  let pieces: string[] = [];
  let continues = false;
  let depthBefore = 0;
  for (let start = 0; start <= text.length; ) {
    const lineFeed = text.indexOf('\n', start);
    const end = lineFeed < 0 ? text.length : lineFeed;
    const depth = quoteDepth(text, start);
    const content = text.slice(text[start + depth] === ' ' ? start + depth + 1 : start + depth, end);
    const isSignature = content === '-- ';
    if (!continues || depth !== depthBefore || isSignature) {
      if (start > 0) pieces.push('\n');
      if (depth > 0) pieces.push('>'.repeat(depth), content === '' ? '' : ' ');
    }
    continues = content.endsWith(' ') && !isSignature;
    pieces.push(continues && deletesSpace ? content.slice(0, -1) : content);
    if (pieces.length >= PIECES_PER_BLOCK) {
      blocks.push(pieces.join(''));
      pieces = [];
    }
    depthBefore = depth;
    start = end + 1;
  }
  return blocks.join('') + pieces.join('');
}

function quoteDepth(text: string, start: number): number {
  let depth = 0;
  while (text[start + depth] === '>') depth++;
  return depth;
}
