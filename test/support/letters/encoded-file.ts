import { createHash } from 'node:crypto';
import type { EncodedFile } from '../../../src/domain/message-parts.js';
import { decodeTransfer } from '../../../src/mail/read/transfer-encoding.js';

/**
 * The bytes of an attachment, decoded from its place in the message. Size and digest are those of the bytes that the
 * parser has decoded itself.
 * @throws when they are not the same
 */
export async function readEncodedFile(
  message: Uint8Array,
  { start, length, encoding, size, sha256 }: EncodedFile,
): Promise<Buffer> {
  async function* encoded(): AsyncGenerator<Uint8Array> {
    // As the store reads it: in chunks of another size than the parser got.
    for (let at = start; at < start + length; at += 1_000) {
      yield message.subarray(at, Math.min(at + 1_000, start + length));
    }
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of decodeTransfer(encoding, encoded())) pieces.push(Buffer.from(piece));
  const bytes = Buffer.concat(pieces);
  const isSame = bytes.length === size && createHash('sha256').update(bytes).digest('base64url') === sha256;
  if (!isSame) throw new Error(`bytes ${start} to ${start + length}, ${encoding}, are not those of the part`);
  return bytes;
}
