import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { decodeHz, decodeIso2022Jp, decodeIso2022Kr } from './seven-bit-charsets.js';

/** What a label means in practice where that is a superset of the set it names (WHATWG Encoding, "labels"). */
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

/** Labels that say nothing: the bytes decide. `us-ascii` is among them, since what is labelled so and is not is UTF-8 or windows-1252. */
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
 * What iconv-lite has and we do not decode: transfer encodings, and UTF-7, which is out of use and a known way
 * to smuggle markup past filters.
 */
const refusedCodecs = new Set(['base64', 'hex', 'utf7', 'utf7imap', 'unicode11utf7']);

/**
 * Decodes text by its charset label. Without a usable label, text that is valid UTF-8 is UTF-8 and
 * anything else windows-1252, as mainstream clients guess. Never throws; never returns lone surrogates.
 */
export function decodeText(bytes: Buffer, label: string | null): string {
  const key = (label ?? '').toLowerCase().replace(/[^a-z0-9]/g, '');
  if (utf8Labels.has(key)) return decodeUtf8(bytes);
  if (meaninglessLabels.has(key)) return decodeUnlabelled(bytes);
  if (/^(?:cs)?iso2022jp|^jis$|^cp5022/.test(key)) return decodeIso2022Jp(bytes);
  if (/^(?:cs)?iso2022kr/.test(key)) return decodeIso2022Kr(bytes);
  if (key === 'hzgb2312' || key === 'hz') return decodeHz(bytes);
  const codec = codecByLabel.get(key) ?? key;
  if (codec === 'windows1252') return decodeWindows1252(bytes);
  if (refusedCodecs.has(codec) || !iconv.encodingExists(codec)) return decodeUnlabelled(bytes);
  return withoutLoneSurrogates(iconv.decode(bytes, codec));
}

/** Bytes without a label: UTF-8 where it is valid (RFC 6532), else windows-1252. */
export function decodeUnlabelled(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? decodeUtf8(bytes) : decodeWindows1252(bytes);
}

function decodeUtf8(bytes: Buffer): string {
  const hasByteOrderMark = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString('utf8', hasByteOrderMark ? 3 : 0);
}

/** By far the commonest charset after UTF-8; most text in it is plain Latin-1, which Node decodes fastest. */
function decodeWindows1252(bytes: Buffer): string {
  const latin1 = bytes.toString('latin1');
  return /[\u0080-\u009f]/.test(latin1) ? iconv.decode(bytes, 'windows1252') : latin1;
}

/** A lone surrogate has no UTF-8 form: the way there and back puts U+FFFD in its place. */
function withoutLoneSurrogates(text: string): string {
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text;
}
