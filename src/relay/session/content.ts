import { asBuffer, BYTE } from '../../lib/bytes.js';

const { LF, DOT } = BYTE;
const LF_DOT = '\n.';

/** Small enough that dot-stuffing a block does not block the event loop, large enough to need few writes. */
export const BLOCK_BYTES = 65_536;

/** Ends a message whose last line has its CRLF (RFC 5321 section 4.1.1.4). */
export const FINAL_DOT = Buffer.from('.\r\n');

/**
 * The message as it is sent, in blocks and without the final dot: a dot at the start of a line is doubled (RFC 5321
 * section 4.5.2). `content` must have CRLF line ends only, also after its last line.
 */
export function* stuffDots(content: Uint8Array): Generator<Uint8Array> {
  const bytes = asBuffer(content);
  let isLineStart = true;
  for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
    const block = bytes.subarray(from, from + BLOCK_BYTES);
    yield stuffBlock(block, isLineStart);
    isLineStart = block.at(-1) === LF;
  }
}

function stuffBlock(block: Buffer, startsLine: boolean): Uint8Array {
  const startsWithDot = startsLine && block[0] === DOT;
  if (!startsWithDot && !block.includes(LF_DOT)) return block;
  const text = block.toString('latin1').replaceAll(LF_DOT, `${LF_DOT}.`);
  return Buffer.from(startsWithDot ? `.${text}` : text, 'latin1');
}

/** Adds the CRLF that must stand before the final dot if it is missing. */
export function withFinalLineEnd(content: Uint8Array): Uint8Array {
  return content.at(-1) === LF ? content : Buffer.concat([content, Buffer.from('\r\n')]);
}
