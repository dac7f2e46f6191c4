const LF = 0x0a;
const DOT = 0x2e;

/** Small enough that stuffing one never holds up the loop, large enough that a message is few writes. */
export const BLOCK_BYTES = 65_536;

/** What ends a message whose last line has its CRLF (RFC 5321 section 4.1.1.4). */
export const FINAL_DOT = Buffer.from('.\r\n');

/**
 * The message as it goes over the wire, in blocks, without the final dot: a dot that begins a line is doubled
 * (RFC 5321 section 4.5.2). `content` has CRLF line ends only, its last line included.
 */
export function* stuffDots(content: Uint8Array): Generator<Uint8Array> {
  let isLineStart = true;
  for (let from = 0; from < content.length; from += BLOCK_BYTES) {
    const block = content.subarray(from, from + BLOCK_BYTES);
    yield stuffBlock(block, isLineStart);
    isLineStart = block.at(-1) === LF;
  }
}

function stuffBlock(block: Uint8Array, startsLine: boolean): Uint8Array {
  const dots: number[] = [];
  let isLineStart = startsLine;
  for (let at = 0; at < block.length; at += 1) {
    const byte = block[at];
    if (isLineStart && byte === DOT) dots.push(at);
    isLineStart = byte === LF;
  }
  if (dots.length === 0) return block;
  const stuffed = new Uint8Array(block.length + dots.length);
  let from = 0;
  for (const [doubled, at] of dots.entries()) {
    stuffed.set(block.subarray(from, at), from + doubled);
    stuffed[at + doubled] = DOT;
    from = at;
  }
  stuffed.set(block.subarray(from), from + dots.length);
  return stuffed;
}
