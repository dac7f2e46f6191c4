import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { BYTE } from '../../lib/bytes.js';

/** Labels that in practice mean a superset of the charset they name (WHATWG Encoding, "labels"). */
const codecByLabel = new Map([
  ['iso88591', 'windows1252'],
  ['latin1', 'windows1252'],
  ['l1', 'windows1252'],
  ['cp819', 'windows1252'],
  ['ibm819', 'windows1252'],
  ['cp1252', 'windows1252'],
  ['win1252', 'windows1252'],
  ['iso88599', 'windows-1254'],
  ['latin5', 'windows-1254'],
  ['l5', 'windows-1254'],
  ['iso885911', 'windows-874'],
  ['tis620', 'windows-874'],
  ['gb2312', 'gb18030'],
  ['gb231280', 'gb18030'],
  ['gbk', 'gb18030'],
  ['xgbk', 'gb18030'],
  ['cp936', 'gb18030'],
  ['euccn', 'gb18030'],
  ['chinese', 'gb18030'],
  ['euckr', 'cp949'],
  ['uhc', 'cp949'],
  ['xeucjp', 'euc-jp'],
  ['cp51932', 'euc-jp'],
  ['shiftjisx0213', 'shift_jis'],
  ['iso88598l', 'iso-8859-8'],
  ['xmaccyrillic', 'maccyrillic'],
  ['unicode', 'utf-16'],
  ['iso10646ucs2', 'utf-16be'],
]);

/**
 * Labels that say nothing: the charset is guessed from the bytes. `us-ascii` is one, since text with that label that is
 * not ASCII is UTF-8 or windows-1252.
 */
const meaninglessLabels = new Set([
  '',
  'usascii',
  'ascii',
  'ansix341968',
  'ansi',
  '7bit',
  '8bit',
  'binary',
  'default',
  'none',
  'unknown',
  'xunknown',
  'unknown8bit',
  'xuserdefined',
]);

const utf8Labels = new Set(['utf8', 'xutf8', 'unicode11utf8', 'cp65001', 'utf8mb4']);

/**
 * Codecs of iconv-lite that are not used: transfer encodings, and UTF-7, which is obsolete and known for smuggling
 * markup past filters.
 */
const refusedCodecs = new Set(['base64', 'hex', 'utf7', 'utf7imap', 'unicode11utf7']);

/**
 * What can be said of bytes before all of them are there: with `utf8` they can be decoded as they come; with `ascii`,
 * those up to the first that is not ASCII mean themselves; with `unknown`, none can.
 */
export function meaningOfBytes(label: string | null): 'utf8' | 'ascii' | 'unknown' {
  const key = keyOf(label);
  if (utf8Labels.has(key)) return 'utf8';
  return meaninglessLabels.has(key) || codecByLabel.get(key) === 'windows1252' ? 'ascii' : 'unknown';
}

function keyOf(label: string | null): string {
  return (label ?? '').toLowerCase().replace(/[^a-z0-9]/g, '');
}

/**
 * Decodes text by its charset label. Without a usable label, valid UTF-8 is UTF-8 and anything else windows-1252, as
 * common mail clients guess. Never throws, and never returns lone surrogates.
 * @param isStart a byte order mark at the start of a text is dropped, and within it kept
 */
export function decodeText(bytes: Buffer, label: string | null, isStart = true): string {
  const key = keyOf(label);
  if (utf8Labels.has(key)) return decodeUtf8(bytes, isStart);
  if (meaninglessLabels.has(key)) return decodeUnlabelled(bytes, isStart);
  if (/^(?:cs)?iso2022jp|^jis$|^cp5022/.test(key)) return decodeIso2022Jp(bytes);
  if (/^(?:cs)?iso2022kr/.test(key)) return decodeIso2022Kr(bytes);
  if (key === 'hzgb2312' || key === 'hz') return decodeHz(bytes);
  const codec = codecByLabel.get(key) ?? key;
  if (codec === 'windows1252') return decodeWindows1252(bytes);
  if (refusedCodecs.has(codec) || !iconv.encodingExists(codec)) return decodeUnlabelled(bytes, isStart);
  return withoutLoneSurrogates(iconv.decode(bytes, codec));
}

/** Decodes text without a label: as UTF-8 when it is valid (RFC 6532), else as windows-1252. */
export function decodeUnlabelled(bytes: Buffer, isStart = true): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? decodeUtf8(bytes, isStart) : decodeWindows1252(bytes);
}

function decodeUtf8(bytes: Buffer, isStart: boolean): string {
  const hasByteOrderMark = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString('utf8', isStart && hasByteOrderMark ? 3 : 0);
}

/** Most text in windows-1252 is Latin-1 as well, which Node decodes faster. */
function decodeWindows1252(bytes: Buffer): string {
  const latin1 = bytes.toString('latin1');
  return /[\u0080-\u009f]/.test(latin1) ? iconv.decode(bytes, 'windows1252') : latin1;
}

/** Encoding to UTF-8 and back replaces lone surrogates by U+FFFD. */
function withoutLoneSurrogates(text: string): string {
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text;
}

/*
 * Seven-bit charsets that switch between character sets with escape sequences. iconv-lite does not have them. Each is
 * converted to an eight-bit encoding of the same character sets, which it has.
 */

const ESC = 0x1b;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const { LF, SPACE, TILDE, DELETE } = BYTE;
/** Bytes of EUC-JP before a half-width katakana and before a character of JIS X 0212. */
const SINGLE_SHIFT_2 = 0x8e;
const SINGLE_SHIFT_3 = 0x8f;

type JapaneseSet = 'ascii' | 'katakana' | 'jis0208' | 'jis0212';

/** The escape sequences of RFC 1468 and RFC 2237, and others that are in use. */
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

/** ISO-2022-JP (RFC 1468, RFC 2237) with the half-width katakana of CP50221, converted to EUC-JP. */
function decodeIso2022Jp(bytes: Buffer): string {
  // In EUC-JP, a katakana takes two bytes for one here, and a character of JIS X 0212 three for two.
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
    if (byte === LF) set = 'ascii';
    const isPrintable = byte > SPACE && byte < DELETE;
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
    if (trail <= SPACE || trail >= DELETE) continue;
    if (set === 'jis0212') out[length++] = SINGLE_SHIFT_3;
    out[length++] = byte | 0x80;
    out[length++] = trail | 0x80;
    i++;
  }
  return iconv.decode(out.subarray(0, length), 'euc-jp');
}

/** The escape sequence at `start`, after its ESC; undefined when there is none. */
function japaneseEscapeAt(bytes: Buffer, start: number): string | undefined {
  if (bytes[start] !== 0x28 && bytes[start] !== 0x24) return undefined;
  const two = bytes.toString('latin1', start, start + 2);
  if (japaneseEscapes.has(two)) return two;
  const three = bytes.toString('latin1', start, start + 3);
  return japaneseEscapes.has(three) ? three : undefined;
}

/** ISO-2022-KR (RFC 1557), converted to EUC-KR. */
function decodeIso2022Kr(bytes: Buffer): string {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let isShifted = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === SHIFT_OUT) isShifted = true;
    else if (byte === SHIFT_IN) isShifted = false;
    // The header `ESC $ ) C` names the character set and is not text.
    else if (byte === ESC && bytes.toString('latin1', i + 1, i + 4) === '$)C') i += 3;
    else out[length++] = isShifted && byte > SPACE && byte < DELETE ? byte | 0x80 : byte;
  }
  return iconv.decode(out.subarray(0, length), 'cp949');
}

/** HZ-GB-2312 (RFC 1843), converted to GBK. */
function decodeHz(bytes: Buffer): string {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let isChinese = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    const next = byte === TILDE ? String.fromCharCode(bytes[i + 1] ?? 0) : '';
    if (next === '{' || next === '}') isChinese = next === '{';
    else if (next === '~') out[length++] = TILDE;
    else if (next !== '\n') {
      if (byte === LF) isChinese = false;
      out[length++] = isChinese && byte > SPACE && byte < DELETE ? byte | 0x80 : byte;
      continue;
    }
    i++;
  }
  return iconv.decode(out.subarray(0, length), 'gbk');
}

/** The declaration has to be within these bytes (HTML Standard, "Specifying the document's character encoding"). */
const DECLARATION_BYTES = 1024;

/**
 * The charset that an HTML body declares, for when its MIME header names none; null when it declares none. Valid UTF-8
 * is UTF-8 whatever it declares, and gives null.
 */
export function declaredHtmlCharset(bytes: Buffer): string | null {
  if (isUtf8(bytes)) return null;
  const beginning = bytes.toString('latin1', 0, DECLARATION_BYTES);
  return /<meta\s[^>]*?charset\s*=\s*["']?([^\s"'/>;]+)/i.exec(beginning)?.[1] ?? null;
}
