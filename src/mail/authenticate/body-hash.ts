import { createHash } from 'node:crypto';
import type { DkimForm } from '../../domain/dkim-signatures.js';

/** Line ends that are hashed in one go. */
const LINE_ENDS_AT_ONCE = 32 * 1024;

/** What both forms leave for later: line ends at the end of the body, of which one counts (RFC 6376 section 3.4.3). */
abstract class FormHash {
  readonly #hash = createHash('sha256');
  /** Octets of the form so far. */
  #length = 0;
  protected lineEnds = 0;

  /** @param text whole or part of a body with CRLF line ends, none of which is divided; a character is a byte */
  abstract update(text: string): void;

  /** Octets of the whole form, and its SHA-256 in base64. */
  digest(): { readonly length: number; readonly hash: string } {
    this.finish();
    return { length: this.#length, hash: this.#hash.digest('base64') };
  }

  protected abstract finish(): void;

  protected get isEmpty(): boolean {
    return this.#length === 0;
  }

  protected add(text: string): void {
    this.#hash.update(text, 'latin1');
    this.#length += text.length;
  }

  protected addLineEnds(): void {
    for (; this.lineEnds > 0; this.lineEnds -= LINE_ENDS_AT_ONCE) {
      this.add('\r\n'.repeat(Math.min(this.lineEnds, LINE_ENDS_AT_ONCE)));
    }
    this.lineEnds = 0;
  }
}

/** RFC 6376 section 3.4.3: the body as it is, with one line end at its end, also where it is empty. */
class SimpleHash extends FormHash {
  update(text: string): void {
    let end = text.length;
    while (text.endsWith('\r\n', end)) end -= 2;
    if (end > 0) {
      this.addLineEnds();
      this.add(text.slice(0, end));
    }
    this.lineEnds += (text.length - end) / 2;
  }

  protected finish(): void {
    this.add('\r\n');
  }
}

/** White space that the relaxed form changes. Nearly all text has none. */
const CHANGED = /[ \t][ \t\r]|\t/;

/** RFC 6376 section 3.4.4: runs of white space are one space, and there is none before a line end. */
class RelaxedHash extends FormHash {
  #hasSpace = false;

  update(text: string): void {
    const before = text.slice(0, startOfText(text));
    this.#hold(before);
    if (before.length === text.length) return;
    const end = endOfText(text);
    this.addLineEnds();
    const middle = text.slice(before.length, end);
    const lines = CHANGED.test(middle) ? middle.replace(/[ \t]+/g, ' ').replaceAll(' \r\n', '\r\n') : middle;
    this.add(this.#hasSpace ? ` ${lines}` : lines);
    this.#hasSpace = false;
    this.#hold(text.slice(end));
  }

  protected finish(): void {
    if (!this.isEmpty) this.add('\r\n');
  }

  /** Of blanks nothing is kept but what they come to when text follows. */
  #hold(blanks: string): void {
    if (blanks === '') return;
    const lastEnd = blanks.lastIndexOf('\n');
    if (lastEnd >= 0) this.#hasSpace = false;
    if (lastEnd < blanks.length - 1) this.#hasSpace = true;
    for (let at = blanks.indexOf('\n'); at >= 0; at = blanks.indexOf('\n', at + 1)) this.lineEnds++;
  }
}

/** Where the blanks end that the text begins with. */
function startOfText(text: string): number {
  let start = 0;
  for (; start < text.length; start++) {
    const first = text.charCodeAt(start);
    if (first === 0x0d && text.charCodeAt(start + 1) === 0x0a) start++;
    else if (first !== 0x20 && first !== 0x09) break;
  }
  return start;
}

/** Where the blanks begin that the text ends with. */
function endOfText(text: string): number {
  let end = text.length;
  for (; end > 0; end--) {
    const last = text.charCodeAt(end - 1);
    if (last === 0x0a && text.charCodeAt(end - 2) === 0x0d) end--;
    else if (last !== 0x20 && last !== 0x09) break;
  }
  return end;
}

/** Hashes a body as its bytes arrive, in each of the forms that are asked for. Takes no more memory for a longer one. */
export class BodyHashes {
  readonly #forms: ReadonlyMap<DkimForm, FormHash>;
  /** The last chunk ended with CR: its line end may be divided. */
  #hasCr = false;

  constructor(forms: Iterable<DkimForm>) {
    this.#forms = new Map(
      [...forms].map(form => [form, form === 'simple' ? new SimpleHash() : new RelaxedHash()]),
    );
  }

  update(bytes: Buffer): void {
    if (this.#forms.size === 0 || bytes.length === 0) return;
    let text = (this.#hasCr ? '\r' : '') + bytes.toString('latin1');
    this.#hasCr = text.endsWith('\r');
    if (this.#hasCr) text = text.slice(0, -1);
    for (const form of this.#forms.values()) if (text !== '') form.update(text);
  }

  digest(): ReadonlyMap<DkimForm, { readonly length: number; readonly hash: string }> {
    if (this.#hasCr) for (const form of this.#forms.values()) form.update('\r');
    return new Map([...this.#forms].map(([form, hash]) => [form, hash.digest()]));
  }
}
