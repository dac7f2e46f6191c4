import { asBuffer, BYTE } from '../../lib/bytes.js';

const { CR, LF } = BYTE;

/** A field of a header as it stands. One character for each byte. */
export interface HeaderLine {
  /** In lower case. */
  readonly key: string;
  /** The whole field, folded as it is, without the end of its last line. */
  readonly text: string;
}

export function valueOfField({ text }: HeaderLine): string {
  return text.slice(text.indexOf(':') + 1);
}

/** A header with more bytes is not looked at: nothing that it signs can be checked. */
const MAX_HEADER_BYTES = 256 * 1024;

/** Takes the header off the beginning of a message, up to a bound. */
export class HeaderTaker {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  /** Bytes of the current line, without CR. */
  #lineLength = 0;
  #isDone = false;

  get isDone(): boolean {
    return this.#isDone;
  }

  /** @returns what follows the header, once it is complete */
  take(chunk: Uint8Array): Uint8Array | null {
    const bytes = asBuffer(chunk);
    for (let at = 0; ; ) {
      const end = bytes.indexOf(LF, at);
      const lineEnd = end < 0 ? bytes.length : end;
      this.#lineLength += lineEnd - at - (end > at && bytes[end - 1] === CR ? 1 : 0);
      // A chunk may end between CR and LF, so that the CR was counted.
      if (end < 0) break;
      if (this.#lineLength === 0 || (this.#lineLength === 1 && at === 0 && end === 0 && this.#endsWithCr)) {
        this.#isDone = true;
        this.#keep(bytes.subarray(0, end + 1));
        return bytes.subarray(end + 1);
      }
      this.#lineLength = 0;
      at = end + 1;
    }
    this.#keep(bytes);
    return null;
  }

  /** The fields; null when there is more than what is looked at. */
  end(): readonly HeaderLine[] | null {
    if (this.#bytes > MAX_HEADER_BYTES) return null;
    return splitHeader(Buffer.concat(this.#pieces).toString('latin1'));
  }

  get #endsWithCr(): boolean {
    return this.#pieces.at(-1)?.at(-1) === CR;
  }

  #keep(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_HEADER_BYTES) this.#pieces.length = 0;
    // A copy: whoever feeds us may use the buffer again.
    else if (bytes.length > 0) this.#pieces.push(Buffer.from(bytes));
  }
}

/** A line that is no field, such as an mbox separator, is left out with what continues it. */
export function splitHeader(header: string): readonly HeaderLine[] {
  const fields: HeaderLine[] = [];
  // Ends of lines before anything but white space: there the next field begins.
  for (const text of header.split(/\r?\n(?![ \t])/)) {
    const colon = text.indexOf(':');
    if (colon <= 0) continue;
    const key = text.slice(0, colon).trimEnd().toLowerCase();
    if (/^[!-~]+$/.test(key)) fields.push({ key, text });
  }
  return fields;
}
