const FOREIGN = 0xff;
const PADDING = 0xfe;

const valueByByte = ((): Uint8Array => {
  const table = new Uint8Array(256).fill(FOREIGN);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let value = 0; value < alphabet.length; value++) table[alphabet.charCodeAt(value)] = value;
  table['='.charCodeAt(0)] = PADDING;
  return table;
})();

/**
 * Base64 as a stream (RFC 2045 section 6.8). Characters outside the alphabet are ignored, lines need not
 * be multiples of four, and decoding goes on after padding: list software appends a second base64 stream.
 * Node's own decoder takes `-` and `_` for digits, which here are foreign characters.
 */
export class Base64Decoder {
  #bits = 0;
  /** Digits of the group that is not complete, 0 to 3. */
  #digits = 0;

  write(chunk: Buffer): Buffer {
    const out = Buffer.allocUnsafe(Math.ceil((chunk.length * 3) / 4) + 3);
    let length = 0;
    let i = 0;
    while (i < chunk.length) {
      if (this.#digits === 0) {
        // Whole groups with nothing between their digits: all of a line but its end.
        const end = wholeGroupsEnd(chunk, i, out, length);
        length += ((end - i) / 4) * 3;
        i = end;
        if (i === chunk.length) break;
      }
      const value = digitValue(chunk[i++]);
      if (value < 64) {
        this.#bits = (this.#bits << 6) | value;
        if (++this.#digits === 4) {
          out[length++] = this.#bits >> 16;
          out[length++] = this.#bits >> 8;
          out[length++] = this.#bits;
          this.#restart();
        }
      } else if (value === PADDING) {
        length = putRest(out, length, this.#bits, this.#digits);
        this.#restart();
      }
    }
    return out.subarray(0, length);
  }

  end(): Buffer {
    const out = Buffer.allocUnsafe(2);
    const length = putRest(out, 0, this.#bits, this.#digits);
    this.#restart();
    return out.subarray(0, length);
  }

  #restart(): void {
    this.#bits = 0;
    this.#digits = 0;
  }
}

function digitValue(byte: number | undefined): number {
  return valueByByte[byte ?? 0] ?? FOREIGN;
}

/** Decodes groups of four digits from `start` on into `out`; returns where the first one that is not whole begins. */
function wholeGroupsEnd(chunk: Buffer, start: number, out: Buffer, at: number): number {
  let length = at;
  let i = start;
  for (; i + 4 <= chunk.length; i += 4) {
    const a = digitValue(chunk[i]);
    const b = digitValue(chunk[i + 1]);
    const c = digitValue(chunk[i + 2]);
    const d = digitValue(chunk[i + 3]);
    if ((a | b | c | d) >= 64) break;
    out[length++] = (a << 2) | (b >> 4);
    out[length++] = (b << 4) | (c >> 2);
    out[length++] = (c << 6) | d;
  }
  return i;
}

/** Writes the whole bytes of an incomplete group: none, one or two of them. */
function putRest(out: Buffer, at: number, bits: number, digits: number): number {
  if (digits === 2) {
    out[at] = bits >> 4;
    return at + 1;
  }
  if (digits === 3) {
    out[at] = bits >> 10;
    out[at + 1] = bits >> 2;
    return at + 2;
  }
  return at;
}
