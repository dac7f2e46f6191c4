import type { TransformCallback } from 'node:stream';
import type { MessageText } from 'mailparser';
import { BYTE } from '../../lib/bytes.js';
import { HeaderFields } from './header-fields.js';
import type { ParseLimits } from './limits.js';
import { LinePositions } from './line-positions.js';
import { Library, type Splitter, type SplitterItem, type SplitterNode } from './mailparser-internals.js';
import { describePart, type MultipartForm, type Part, type PartPlace } from './part-description.js';
import { QuotedPrintableDecoder } from './quoted-printable.js';

const DASH = 0x2d;
const NO_BYTES = Buffer.alloc(0);
const { TAB, LF, CR, SPACE } = BYTE;

/** Where the body of a part is in the message; `end` is null until it has ended. */
interface OpenRange {
  start: number;
  end: number | null;
}

/** A multipart that is split. */
interface OpenMultipart {
  readonly form: MultipartForm;
  readonly place: PartPlace;
  parts: number;
}

const OPTIONS = {
  // Nothing is made of anything else.
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipImageLinks: true,
  checksumAlgo: false,
  keepDeliveryStatus: true,
  ignoreEmbedded: true,
  // The limits are ours: where the library has one, it gives up the whole message.
  maxHeadSize: Number.POSITIVE_INFINITY,
  maxChildNodes: Number.POSITIVE_INFINITY,
} as const;

/** The longest text between `--` and white space in a delimiter: boundaries that are longer are not taken. */
const LONGEST_DELIMITER = 1_000;

/**
 * mailparser, which splits a message into its parts and decodes them (RFC 2046, RFC 2045 section 6). What a part is
 * comes from our readers, which are bounded and take what senders get wrong. Every part that is not split is passed on
 * as an attachment, text too. A write is complete once all of its bytes were passed on, so that little is read ahead
 * while a part is not taken.
 */
export class PartStreams extends Library {
  /** The header of the message; complete once it was passed. */
  readonly header: HeaderFields;
  readonly #limits: ParseLimits;
  readonly #multiparts = new Map<SplitterNode, OpenMultipart>();
  /** All boundaries so far. */
  readonly #boundaries = new Set<string>();
  /** Delimiters that have none of the boundaries that are open now. */
  readonly #closed = new Set<string>();
  readonly #lines = new LinePositions();
  readonly #ranges = new WeakMap<SplitterNode, OpenRange>();
  #whenRead: (() => void) | null = null;

  constructor(limits: ParseLimits) {
    super(OPTIONS);
    this.#limits = limits;
    this.header = this.#describeByOurRules(this.splitter.node);
    this.#mendSplitter(this.splitter);
  }

  /** True when the message has ended: later bytes are ignored. */
  get isDone(): boolean {
    const { splitter } = this;
    return splitter.nodeCounter > this.#limits.parts || (splitter.inEpilogue && splitter.node.root);
  }

  /**
   * Passes on the parts that are not split, one after the other, with their decoded bytes. Resolves once the message has
   * ended and every part is taken; rejects as soon as `take` does.
   */
  passTo(take: (part: Part, content: AsyncIterable<Buffer>) => Promise<void>): Promise<void> {
    let taken = Promise.resolve();
    return new Promise((resolve, reject) => {
      this.on('data', item => {
        if (item.type !== 'attachment') return;
        const part = (item.headers as Map<string, unknown>).get('part') as Part;
        taken = take(part, item.content).then(() => item.release?.(), reject);
      });
      this.on('error', reject);
      this.on('end', () => taken.then(resolve));
    });
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#lines.takePiece(chunk);
    this.splitter.write(chunk, () => {
      this.#whenRead = done;
      this.#tellWhenRead();
    });
  }

  override readData(): void {
    super.readData();
    this.#tellWhenRead();
  }

  override processHeaders([part]: readonly Part[]): Map<string, unknown> {
    return new Map(part === undefined ? [] : [['part', part]]);
  }

  /** Texts were passed on as they are; the library would walk the tree of the parts by recursion. */
  override getTextContent(): MessageText {
    return { type: 'text' };
  }

  #tellWhenRead(): void {
    const done = this.#whenRead;
    if (done === null || this.reading || this.splitter.readableLength > 0) return;
    this.#whenRead = null;
    done();
  }

  #mendSplitter(splitter: Splitter): void {
    const { newNode, processLine, push } = splitter;
    let current: Buffer = NO_BYTES;
    splitter.newNode = parent => {
      // A part of a header alone: the library passes it over when another follows.
      if (splitter.node.headers === false) {
        splitter.node.parseHeaders();
        splitter.push(splitter.node);
      }
      newNode.call(splitter, parent);
      this.#describeByOurRules(splitter.node);
    };
    splitter.processLine = (line, isFinal, next) => {
      current = line === false ? NO_BYTES : line;
      this.#lines.takeLine(line);
      try {
        if (this.isDone) next(null, false);
        else processLine.call(splitter, line, isFinal, next);
      } catch (error) {
        // Thrown from the splitter's own turn, it would end the thread and not this message alone.
        this.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    };
    splitter.push = (item: SplitterItem | null) => {
      const isBeforeDelimiter = item?.type === 'body' && item.node !== splitter.node;
      // The line end before a delimiter is no part of the body. The library leaves it when it is the whole body.
      if (isBeforeDelimiter && isDirectlyBefore(item.value, current)) item.value = item.value.subarray(0, 0);
      return push.call(splitter, item);
    };
    this.#matchDelimiters(splitter);
  }

  /** Matches every form of a boundary, and in the same time at any depth. */
  #matchDelimiters(splitter: Splitter): void {
    const { checkBoundary } = splitter;
    let text = '';
    let node = splitter.node;
    splitter.checkBoundary = line => {
      text = delimiterText(line);
      if (!this.#boundaries.has(text) && !this.#boundaries.has(withoutDashes(text))) return false;
      if (node !== splitter.node) this.#closed.clear();
      node = splitter.node;
      if (this.#closed.has(text)) return false;
      const found = checkBoundary.call(splitter, line);
      if (found === false) this.#closed.add(text);
      else this.#endBody(node);
      return found;
    };
    splitter.compareBoundary = (_line, _start, { forms }) => {
      if (forms.includes(text)) return 1;
      return forms.includes(withoutDashes(text)) ? 2 : false;
    };
  }

  /** Makes the library ask us for what the header of a part says. */
  #describeByOurRules(node: SplitterNode): HeaderFields {
    const fields = new HeaderFields(node.parentNode === false ? 'message' : 'part', this.#limits);
    const place = this.#placeIn(node.parentNode);
    const range: OpenRange = { start: 0, end: null };
    this.#ranges.set(node, range);
    node._headerlen = 1;
    node.addHeaderChunk = line => {
      if (line === false) return false;
      const end = endOfText(line);
      if (end > 0) fields.addLine(line, 0, end);
      range.start = this.#lines.end;
      return end === 0 && line.length > 0;
    };
    node.parseHeaders = () => {
      if (node.headers !== false) return;
      // The parts of a digest are messages by default (RFC 2046 section 5.1.5).
      const defaultType = place.parent?.kind === 'digest' ? 'message/rfc822' : 'text/plain';
      const description = describePart(fields, defaultType, this.#limits);
      const form = place.depth < this.#limits.nesting ? description.multipart : null;
      const rangeOf = () => ({ start: range.start, end: range.end ?? this.#lines.end });
      const part = form === null ? [{ description, place, rangeOf }] : [];
      node.headers = { lines: [], getList: () => part };
      node.disposition = 'attachment';
      node.encoding = description.encoding;
      node.contentType = form === null ? 'application/octet-stream' : 'multipart/mixed';
      if (description.encoding === 'quoted-printable') node.getDecoder = () => new QuotedPrintableDecoder();
      if (form === null) return;
      node.multipart = 'mixed';
      node._boundary = {
        length: Math.max(...form.boundaries.map(({ length }) => length)),
        forms: form.boundaries,
      };
      for (const boundary of form.boundaries) this.#boundaries.add(boundary);
      this.#closed.clear();
      this.#multiparts.set(node, { form, place, parts: 0 });
    };
    return fields;
  }

  /** The line end before a delimiter is part of the delimiter (RFC 2046 section 5.1.1). */
  #endBody(node: SplitterNode): void {
    const range = this.#ranges.get(node);
    if (range !== undefined) range.end ??= Math.max(range.start, this.#lines.textEndBefore);
  }

  #placeIn(parentNode: SplitterNode | false): PartPlace {
    const outer = parentNode === false ? undefined : this.#multiparts.get(parentNode);
    if (outer === undefined) return { depth: 0, isRelated: false, parent: null, isFirst: false };
    outer.parts++;
    return {
      depth: outer.place.depth + 1,
      isRelated: outer.place.isRelated || outer.form.kind === 'related',
      parent: outer.form,
      isFirst: outer.parts === 1,
    };
  }
}

function isDirectlyBefore(bytes: Buffer, next: Buffer): boolean {
  return bytes.buffer === next.buffer && bytes.byteOffset + bytes.length === next.byteOffset;
}

/** The end of a line without its line end. */
function endOfText(line: Buffer): number {
  let end = line.length;
  if (line[end - 1] === LF) end--;
  while (end > 0 && line[end - 1] === CR) end--;
  return end;
}

/**
 * What a delimiter has after its dashes; white space may follow (RFC 2046 section 5.1.1), and a line end stand before
 * it. `""` for any other line.
 */
function delimiterText(line: Buffer): string {
  let start = line[0] === LF ? 1 : 0;
  if (line[0] === CR && line[1] === LF) start = 2;
  if (line[start] !== DASH || line[start + 1] !== DASH) return '';
  start += 2;
  let end = endOfText(line);
  while (end > start && (line[end - 1] === SPACE || line[end - 1] === TAB || line[end - 1] === CR)) end--;
  return end - start > LONGEST_DELIMITER ? '' : line.toString('latin1', start, end);
}

/** The boundary of a closing delimiter; `""` for any other. */
function withoutDashes(text: string): string {
  return text.endsWith('--') ? text.slice(0, -2) : '';
}
