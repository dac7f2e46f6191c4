/** Bytes of known length, in memory or as they are read. */
export interface ByteStream {
  readonly size: number;
  readonly bytes: readonly Uint8Array[] | AsyncIterable<Uint8Array>;
}

export function inMemory(parts: readonly Uint8Array[]): ByteStream {
  return { size: parts.reduce((sum, part) => sum + part.length, 0), bytes: parts };
}

/** What is shorter goes out in one piece. */
const ONE_PIECE_BYTES = 128 * 1024;

/** One stream of several. */
export function joinStreams(streams: readonly ByteStream[]): ByteStream {
  const size = streams.reduce((sum, stream) => sum + stream.size, 0);
  const parts: Uint8Array[] = [];
  for (const { bytes } of streams) {
    if (!isInMemory(bytes)) return { size, bytes: inTurn(streams.map(stream => stream.bytes)) };
    parts.push(...bytes);
  }
  return { size, bytes: size <= ONE_PIECE_BYTES ? [Buffer.concat(parts, size)] : parts };
}

function isInMemory(bytes: ByteStream['bytes']): bytes is readonly Uint8Array[] {
  return Array.isArray(bytes);
}

async function* inTurn(parts: readonly ByteStream['bytes'][]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield* part;
}
