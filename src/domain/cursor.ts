import { createHmac, timingSafeEqual } from 'node:crypto';

const VERSION = 1;
const POSITION_BYTES = 6;
const MAC_BYTES = 16;
const LENGTH = 1 + POSITION_BYTES + MAC_BYTES;
const CURSOR = /^[A-Za-z0-9_-]{31}$/;

/**
 * Cursors are opaque and bound to the list they come from: a position (48 bits) with a MAC over the scope,
 * which names the resource, list type and normalised filters. A cursor of another list, or one that was
 * tampered with, is indistinguishable from nonsense.
 */
export class CursorCodec {
  readonly #secret: Buffer;

  /** `secret` is the store's own, base64. */
  constructor(secret: string) {
    this.#secret = Buffer.from(secret, 'base64');
  }

  encode(scope: string, position: number): string {
    const bytes = Buffer.alloc(LENGTH);
    bytes[0] = VERSION;
    bytes.writeUIntBE(position, 1, POSITION_BYTES);
    this.#mac(scope, bytes).copy(bytes, 1 + POSITION_BYTES);
    return bytes.toString('base64url');
  }

  /** The position, or null when the cursor does not belong to this scope. */
  decode(scope: string, cursor: string): number | null {
    if (!CURSOR.test(cursor)) return null;
    const bytes = Buffer.from(cursor, 'base64url');
    // The last character carries four bits of which two mean nothing: only our own spelling is ours.
    if (bytes[0] !== VERSION || bytes.toString('base64url') !== cursor) return null;
    if (!timingSafeEqual(this.#mac(scope, bytes), bytes.subarray(1 + POSITION_BYTES))) return null;
    return bytes.readUIntBE(1, POSITION_BYTES);
  }

  #mac(scope: string, bytes: Buffer): Buffer {
    return createHmac('sha256', this.#secret)
      .update(bytes.subarray(0, 1 + POSITION_BYTES))
      .update(scope)
      .digest()
      .subarray(0, MAC_BYTES);
  }
}
