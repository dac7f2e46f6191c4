import { createHmac, timingSafeEqual } from 'node:crypto';

const VERSION = 1;
const POSITION_BYTES = 6;
const MAC_BYTES = 16;
const CURSOR = /^[A-Za-z0-9_-]{24,240}$/;

/**
 * Encodes cursors: a position in a list, with a MAC over the position and the scope. The scope names the resource, the
 * kind of list and the normalised filters. A cursor from another list, or a forged one, is refused like any nonsense.
 */
export class CursorCodec {
  readonly #secret: Buffer;

  /** @param secret of the store, base64 */
  constructor(secret: string) {
    this.#secret = Buffer.from(secret, 'base64');
  }

  /** A cursor for a number of up to 48 bits. */
  encode(scope: string, position: number): string {
    const bytes = Buffer.alloc(POSITION_BYTES);
    bytes.writeUIntBE(position, 0, POSITION_BYTES);
    return this.#seal(scope, bytes);
  }

  /** The number; null when the cursor is not one of this scope. */
  decode(scope: string, cursor: string): number | null {
    const bytes = this.#open(scope, cursor);
    return bytes?.length === POSITION_BYTES ? bytes.readUIntBE(0, POSITION_BYTES) : null;
  }

  /** A cursor for a short text, such as a label. */
  encodeText(scope: string, position: string): string {
    return this.#seal(scope, Buffer.from(position, 'utf8'));
  }

  /** The text; null when the cursor is not one of this scope. */
  decodeText(scope: string, cursor: string): string | null {
    return this.#open(scope, cursor)?.toString('utf8') ?? null;
  }

  #seal(scope: string, position: Buffer): string {
    const bytes = Buffer.concat([Buffer.of(VERSION), this.#mac(scope, position), position]);
    return bytes.toString('base64url');
  }

  #open(scope: string, cursor: string): Buffer | null {
    if (!CURSOR.test(cursor)) return null;
    const bytes = Buffer.from(cursor, 'base64url');
    // Base64 ignores spare bits of the last character; only the spelling that we gave out is accepted.
    if (bytes[0] !== VERSION || bytes.toString('base64url') !== cursor) return null;
    const position = bytes.subarray(1 + MAC_BYTES);
    const mac = bytes.subarray(1, 1 + MAC_BYTES);
    return timingSafeEqual(this.#mac(scope, position), mac) ? position : null;
  }

  #mac(scope: string, position: Buffer): Buffer {
    return createHmac('sha256', this.#secret)
      .update(Buffer.of(VERSION, position.length))
      .update(position)
      .update(scope)
      .digest()
      .subarray(0, MAC_BYTES);
  }
}
