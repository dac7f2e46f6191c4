import type { Transform } from 'node:stream';
import { MailParser, type MailParserOptions, type MessageText } from 'mailparser';
import type { Part } from './part-description.js';

/*
 * The members of mailparser and of its splitter that are not documented, and that part-streams.ts relies on. All of
 * them are named in test/contract/parser-library: read the new sources before another version.
 */

/** A part in the splitter of mailparser. */
export interface SplitterNode {
  readonly type: 'node';
  readonly parentNode: SplitterNode | false;
  readonly root: boolean;
  /** Takes the next line of the header, with its line end; true for the empty line after it. */
  addHeaderChunk(line: Buffer | false): boolean;
  /** Sets the members below from the header. */
  parseHeaders(): void;
  headers: { readonly lines: readonly []; getList(): readonly Part[] } | false;
  /** Not 0 once there is a header: a part of a header alone is passed on. */
  _headerlen: number;
  contentType: string | false;
  /** True for a part that is split, by `_boundary`. */
  multipart: string | false;
  /** Goes to `compareBoundary` as it is, and has to have a length. */
  _boundary: Boundary | false;
  encoding: string | false;
  /** The decoder of the body, by its `encoding`. */
  getDecoder(): Transform;
  disposition: string | false;
}

/** What the splitter passes on: a part once its header is complete, and the bytes of its body. */
export type SplitterItem =
  | SplitterNode
  | { readonly type: 'body' | 'data' | 'none'; readonly node: SplitterNode; value: Buffer };

/** The splitter of mailparser (`MessageSplitter` of @zone-eu/mailsplit). */
export interface Splitter extends Transform {
  /** The part of the current line. */
  readonly node: SplitterNode;
  /** Parts so far. */
  readonly nodeCounter: number;
  /** True after the closing delimiter of `node`. */
  readonly inEpilogue: boolean;
  newNode(parent: SplitterNode | false): void;
  processLine(
    line: Buffer | false,
    isFinal: boolean,
    next: (error: null, item: SplitterItem | false) => void,
  ): void;
  /** Which boundary of `node`, or of a multipart around it, a line is a delimiter of; false for none. */
  checkBoundary(line: Buffer): number | false;
  /** 1 for a delimiter, 2 for a closing one. `start` is after the line end that may stand before it. */
  compareBoundary(line: Buffer, start: number, boundary: Boundary): 1 | 2 | false;
}

/** The members of `MailParser` that are not documented. */
export interface ParserInternals {
  readonly splitter: Splitter;
  /** True while an item of the splitter is in work. */
  readonly reading: boolean;
  /** Called for every item of the splitter, and again when there is none. */
  readData(): void;
  /** The header of a part, for its attachment; `list` is what `getList` of the part's headers gives. */
  processHeaders(list: readonly Part[]): Map<string, unknown>;
  /** The last item: the texts of the message. */
  getTextContent(): MessageText;
}

/** The forms of a boundary. */
export interface Boundary {
  readonly length: number;
  readonly forms: readonly string[];
}

/** `MailParser` with these members. */
export const Library = MailParser as unknown as new (
  options: MailParserOptions & { maxHeadSize: number; maxChildNodes: number },
) => MailParser & ParserInternals;
