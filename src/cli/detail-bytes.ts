import type { ByteSource } from './outcome.js';

/** A detail that is read to its end. */
export async function parseWhole<Detail>(bytes: ByteSource): Promise<Detail> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as Detail;
}

/** One JSON document is one line. */
export async function* withLineEnd(bytes: ByteSource): AsyncGenerator<Uint8Array> {
  yield* bytes;
  yield Buffer.from('\n');
}
