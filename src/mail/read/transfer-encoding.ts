import { pipeline, type Transform } from 'node:stream';
import { Decoder as Base64Decoder } from 'libbase64';
import type { TransferEncoding } from '../../domain/message-parts.js';
import { QuotedPrintableDecoder } from './quoted-printable.js';

/** @param token of a Content-Transfer-Encoding, lower case; an unknown one leaves the bytes as they are */
export function transferEncodingOf(token: string): TransferEncoding {
  return token === 'base64' || token === 'quoted-printable' ? token : 'identity';
}

/**
 * Decodes the body of a part as its bytes arrive (RFC 2045 section 6), with the decoders by which messages are parsed:
 * damaged bytes come to the same.
 * @throws what `encoded` throws
 */
export function decodeTransfer(
  encoding: TransferEncoding,
  encoded: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  if (encoding === 'identity') return encoded;
  const decoder: Transform = encoding === 'base64' ? new Base64Decoder() : new QuotedPrintableDecoder();
  // Who reads the decoder gets the error.
  return pipeline(encoded, decoder, () => {});
}
