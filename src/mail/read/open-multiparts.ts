import { BYTE } from '../../lib/bytes.js';

const DASH = 0x2d;
const { TAB, SPACE, CR } = BYTE;

/** Where a part is in the structure of the message. */
export interface PartPlace {
  /** Number of multiparts around it. */
  readonly depth: number;
  /** True inside a `multipart/related` (RFC 2387), at any depth. */
  readonly isRelated: boolean;
  /** The multipart directly around it; null for the whole message. */
  readonly parent: MultipartForm | null;
  /** True for the first part of its parent. */
  readonly isFirst: boolean;
}

/** What a multipart says about the parts in it. */
export interface MultipartForm {
  /** The boundary, one character for each byte (Latin-1), in every form that may stand in a delimiter; never empty. */
  readonly boundaries: readonly string[];
  /** The subtypes that change what the parts in it are. */
  readonly kind: 'alternative' | 'related' | 'digest' | 'other';
  /** The Content-ID of the root of a `multipart/related`, without brackets; null for its first part (RFC 2387). */
  readonly start: string | null;
}

interface OpenMultipart extends MultipartForm {
  readonly isRelated: boolean;
  /** The longest boundary from the outermost multipart to this one. */
  readonly longestBoundary: number;
  /** Levels of the next outer multiparts with the same boundaries: they cannot be matched while this one is open. */
  readonly hidden: readonly (number | undefined)[];
  parts: number;
}

/** A delimiter line. It ends all open parts inside the multipart at `level`, and begins its next part or closes it. */
export interface Delimiter {
  readonly level: number;
  readonly isClosing: boolean;
}

/**
 * The multiparts that are open at the current position, outermost first. A delimiter of an outer one ends the inner
 * ones too (RFC 2046 section 5.1.2), so an inner one that is never closed does no harm. Matching a line takes the same
 * time at any depth.
 */
export class OpenMultiparts {
  readonly #stack: OpenMultipart[] = [];
  readonly #levels = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#stack.length === 0;
  }

  /** The place of a part that begins now. */
  get place(): PartPlace {
    const innermost = this.#stack.at(-1);
    return {
      depth: this.#stack.length,
      isRelated: innermost?.isRelated ?? false,
      parent: innermost ?? null,
      isFirst: innermost?.parts === 1,
    };
  }

  open(form: MultipartForm): void {
    const outer = this.#stack.at(-1);
    const lengths = form.boundaries.map(({ length }) => length);
    this.#stack.push({
      ...form,
      isRelated: form.kind === 'related' || (outer?.isRelated ?? false),
      longestBoundary: Math.max(...lengths, outer?.longestBoundary ?? 0),
      hidden: form.boundaries.map(boundary => this.#levels.get(boundary)),
      parts: 0,
    });
    for (const boundary of form.boundaries) this.#levels.set(boundary, this.#stack.length - 1);
  }

  /** Applies a delimiter: drops the multiparts inside, and the multipart itself when it is closed. */
  apply({ level, isClosing }: Delimiter): void {
    const target = this.#stack[level];
    if (target !== undefined) target.parts++;
    const remaining = isClosing ? level : level + 1;
    while (this.#stack.length > remaining) {
      const closed = this.#stack.pop();
      if (closed === undefined) break;
      for (const [index, boundary] of closed.boundaries.entries()) {
        const hidden = closed.hidden[index];
        if (hidden === undefined) this.#levels.delete(boundary);
        else this.#levels.set(boundary, hidden);
      }
    }
  }

  /**
   * The delimiter in the line `data[start, end)`, or null. White space may follow it (RFC 2046 section 5.1.1). A
   * closing delimiter before the first part is ignored, or everything after it would be lost.
   */
  match(data: Buffer, start: number, end: number): Delimiter | null {
    const innermost = this.#stack.at(-1);
    if (innermost === undefined || data[start] !== DASH || data[start + 1] !== DASH) return null;
    const textStart = start + 2;
    const textEnd = trimmedEnd(data, textStart, end);
    if (textEnd === textStart || textEnd - textStart > innermost.longestBoundary + 2) return null;
    const text = data.toString('latin1', textStart, textEnd);
    const level = this.#levels.get(text);
    if (level !== undefined) return { level, isClosing: false };
    if (!text.endsWith('--')) return null;
    const closed = this.#levels.get(text.slice(0, -2));
    return closed === undefined || (this.#stack[closed]?.parts ?? 0) === 0
      ? null
      : { level: closed, isClosing: true };
  }
}

function trimmedEnd(data: Buffer, start: number, end: number): number {
  let i = end;
  while (i > start && (data[i - 1] === SPACE || data[i - 1] === TAB || data[i - 1] === CR)) i--;
  return i;
}
