import { BYTE } from '../../lib/bytes.js';
import { BodyHashes } from '../authenticate/body-hash.js';
import { piecesOf } from './encode-text.js';

/**
 * SHA-256 of a body in the "relaxed" form (RFC 6376 section 3.4.4), in base64. It yields between steps, and keeps nothing
 * of what it has hashed; the library's own hash does neither.
 * @param body lines that end in CRLF; the last one may have no end
 * @throws Error for a line that no message may have (RFC 5322 section 2.1.1)
 */
export function* hashBody(body: Buffer): Generator<void, string> {
  const hashes = new BodyHashes(['relaxed']);
  for (const piece of piecesOf(body)) {
    const isLast = piece.byteOffset + piece.length === body.byteOffset + body.length;
    if (!isLast && piece.at(-1) !== BYTE.LF) throw new Error('a line that no message may have');
    hashes.update(piece);
    yield;
  }
  return hashes.digest().get('relaxed')?.hash ?? '';
}
