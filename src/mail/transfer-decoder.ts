import { Base64Decoder } from './base64-decoder.js';
import { QuotedPrintableDecoder } from './quoted-printable-decoder.js';

/** Undoes a Content-Transfer-Encoding (RFC 2045 section 6) piece by piece. */
export interface TransferDecoder {
  /** Decodes the next piece. The answer never shares memory with `chunk`. */
  write(chunk: Buffer): Buffer;
  /** What was held back until the end was known. */
  end(): Buffer;
}

const nothing = Buffer.alloc(0);

/** 7bit, 8bit, binary, and what we do not know (RFC 2045 section 6.4): the bytes as they stand. */
const identityDecoder: TransferDecoder = {
  write: chunk => Buffer.from(chunk),
  end: () => nothing,
};

/** `encoding` is the bare token in lower case. */
export function createTransferDecoder(encoding: string): TransferDecoder {
  if (encoding === 'base64') return new Base64Decoder();
  if (encoding === 'quoted-printable') return new QuotedPrintableDecoder();
  return identityDecoder;
}
