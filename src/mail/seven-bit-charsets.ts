import iconv from 'iconv-lite';

/*
 * Charsets that switch between character sets with escapes and use seven bits only. iconv-lite has none of
 * them; each maps onto an eight-bit form of the same character sets, which it has.
 */

const ESC = 0x1b;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const TILDE = 0x7e;
const LINE_FEED = 0x0a;
/** Prefixes of EUC-JP that announce half-width katakana and JIS X 0212. */
const SINGLE_SHIFT_2 = 0x8e;
const SINGLE_SHIFT_3 = 0x8f;

type JapaneseSet = 'ascii' | 'katakana' | 'jis0208' | 'jis0212';

/** The escape sequences of RFC 1468 and RFC 2237, and those that ISO-2022-JP writers add. */
const japaneseEscapes: ReadonlyMap<string, JapaneseSet> = new Map([
  ['(B', 'ascii'],
  ['(J', 'ascii'],
  ['(H', 'ascii'],
  ['(I', 'katakana'],
  ['$@', 'jis0208'],
  ['$B', 'jis0208'],
  ['$(@', 'jis0208'],
  ['$(B', 'jis0208'],
  ['$(D', 'jis0212'],
]);

/** ISO-2022-JP (RFC 1468, RFC 2237), with half-width katakana as CP50221 has it, by way of EUC-JP. */
export function decodeIso2022Jp(bytes: Buffer): string {
  // JIS X 0212 takes three bytes in EUC-JP for two here: half as much again is always enough, and 2x for katakana.
  const out = Buffer.allocUnsafe(bytes.length * 2);
  let length = 0;
  let set: JapaneseSet = 'ascii';
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === ESC) {
      const sequence = japaneseEscapeAt(bytes, i + 1);
      if (sequence !== undefined) {
        set = japaneseEscapes.get(sequence) ?? 'ascii';
        i += sequence.length;
      }
      continue;
    }
    if (byte === LINE_FEED) set = 'ascii';
    const isPrintable = byte > 0x20 && byte < 0x7f;
    if (set === 'ascii' || !isPrintable) {
      out[length++] = byte;
      continue;
    }
    if (set === 'katakana') {
      out[length++] = SINGLE_SHIFT_2;
      out[length++] = byte | 0x80;
      continue;
    }
    const trail = bytes[i + 1] ?? 0;
    if (trail <= 0x20 || trail >= 0x7f) continue;
    if (set === 'jis0212') out[length++] = SINGLE_SHIFT_3;
    out[length++] = byte | 0x80;
    out[length++] = trail | 0x80;
    i++;
  }
  return iconv.decode(out.subarray(0, length), 'euc-jp');
}

/** The escape sequence that begins behind an ESC, if it is one. */
function japaneseEscapeAt(bytes: Buffer, start: number): string | undefined {
  if (bytes[start] !== 0x28 && bytes[start] !== 0x24) return undefined;
  const two = bytes.toString('latin1', start, start + 2);
  if (japaneseEscapes.has(two)) return two;
  const three = bytes.toString('latin1', start, start + 3);
  return japaneseEscapes.has(three) ? three : undefined;
}

/** ISO-2022-KR (RFC 1557) by way of EUC-KR. */
export function decodeIso2022Kr(bytes: Buffer): string {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let isShifted = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === SHIFT_OUT) isShifted = true;
    else if (byte === SHIFT_IN) isShifted = false;
    // The header `ESC $ ) C` announces the set and is no text.
    else if (byte === ESC && bytes.toString('latin1', i + 1, i + 4) === '$)C') i += 3;
    else out[length++] = isShifted && byte > 0x20 && byte < 0x7f ? byte | 0x80 : byte;
  }
  return iconv.decode(out.subarray(0, length), 'cp949');
}

/** HZ-GB-2312 (RFC 1843) by way of GBK. */
export function decodeHz(bytes: Buffer): string {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let isChinese = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    const next = byte === TILDE ? String.fromCharCode(bytes[i + 1] ?? 0) : '';
    if (next === '{' || next === '}') isChinese = next === '{';
    else if (next === '~') out[length++] = TILDE;
    else if (next !== '\n') {
      if (byte === LINE_FEED) isChinese = false;
      out[length++] = isChinese && byte > 0x20 && byte < 0x7f ? byte | 0x80 : byte;
      continue;
    }
    i++;
  }
  return iconv.decode(out.subarray(0, length), 'gbk');
}
