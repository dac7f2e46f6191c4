import { createHash } from 'node:crypto';
import type { DkimForm } from '../../domain/dkim-signatures.js';
import { BYTE } from '../../lib/bytes.js';

const { CR, LF, SPACE, TAB } = BYTE;

/** What both forms leave for later: line ends at the end of the body, of which one counts (RFC 6376 section 3.4.3). */
abstract class FormHash {
  readonly #hash = createHash('sha256');
  /** Octets of the form so far. */
  #length = 0;
  protected lineEnds = 0;

  /** @param bytes whole or part of a body with CRLF line ends, none of which is divided */
  abstract update(bytes: Uint8Array): void;

  /** Octets of the whole form, and its SHA-256 in base64. */
  digest(): { readonly length: number; readonly hash: string } {
    this.finish();
    return { length: this.#length, hash: this.#hash.digest('base64') };
  }

  protected abstract finish(): void;

  protected get isEmpty(): boolean {
    return this.#length === 0;
  }

  protected add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#length += bytes.length;
  }
}

const LINE_END = Buffer.from('\r\n');
const LINE_ENDS = Buffer.from('\r\n'.repeat(16 * 1024));

/** RFC 6376 section 3.4.3: the body as it is, with one line end at its end, also where it is empty. */
class SimpleHash extends FormHash {
  update(bytes: Uint8Array): void {
    let end = bytes.length;
    while (end >= 2 && bytes[end - 1] === LF && bytes[end - 2] === CR) end -= 2;
    if (end > 0) {
      this.#addLineEnds();
      this.add(bytes.subarray(0, end));
    }
    this.lineEnds += (bytes.length - end) / 2;
  }

  protected finish(): void {
    this.add(LINE_END);
  }

  #addLineEnds(): void {
    for (let left = this.lineEnds * 2; left > 0; left -= LINE_ENDS.length) {
      this.add(LINE_ENDS.subarray(0, Math.min(left, LINE_ENDS.length)));
    }
    this.lineEnds = 0;
  }
}

/** Where the relaxed form is written before it is hashed. All hashes share it: nothing stays in it between two calls. */
const form = Buffer.allocUnsafeSlow(64 * 1024);
/** The most that one byte of the body brings besides line ends. */
const MOST_AT_ONCE = 2;

/** RFC 6376 section 3.4.4: runs of white space are one space, and there is none before a line end. */
class RelaxedHash extends FormHash {
  #hasSpace = false;

  update(bytes: Uint8Array): void {
    let hasSpace = this.#hasSpace;
    let length = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === SPACE || byte === TAB) {
        hasSpace = true;
      } else if (byte === CR && bytes[at + 1] === LF) {
        hasSpace = false;
        this.lineEnds++;
        at++;
      } else {
        if (this.lineEnds > 0) length = this.#writeLineEnds(length);
        if (length > form.length - MOST_AT_ONCE) length = this.#flush(length);
        if (hasSpace) form[length++] = SPACE;
        form[length++] = byte;
        hasSpace = false;
      }
    }
    this.#flush(length);
    this.#hasSpace = hasSpace;
  }

  protected finish(): void {
    if (!this.isEmpty) this.add(LINE_END);
  }

  /** Of blanks nothing is kept but what they come to when text follows. */
  #writeLineEnds(length: number): number {
    let end = length;
    for (; this.lineEnds > 0; this.lineEnds--) {
      if (end > form.length - LINE_END.length) end = this.#flush(end);
      form[end++] = CR;
      form[end++] = LF;
    }
    return end;
  }

  /** @returns where to go on writing */
  #flush(length: number): number {
    if (length > 0) this.add(form.subarray(0, length));
    return 0;
  }
}

const ONLY_CR = Buffer.from('\r');

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

  /** Takes the next bytes; the caller may use the buffer again. */
  update(bytes: Uint8Array): void {
    if (this.#forms.size === 0 || bytes.length === 0) return;
    let rest = bytes;
    if (this.#hasCr) {
      const isDivided = rest[0] === LF;
      this.#feed(isDivided ? LINE_END : ONLY_CR);
      if (isDivided) rest = rest.subarray(1);
    }
    this.#hasCr = rest.at(-1) === CR;
    this.#feed(this.#hasCr ? rest.subarray(0, -1) : rest);
  }

  digest(): ReadonlyMap<DkimForm, { readonly length: number; readonly hash: string }> {
    if (this.#hasCr) this.#feed(ONLY_CR);
    return new Map([...this.#forms].map(([form, hash]) => [form, hash.digest()]));
  }

  #feed(bytes: Uint8Array): void {
    if (bytes.length > 0) for (const form of this.#forms.values()) form.update(bytes);
  }
}
