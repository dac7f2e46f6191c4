import { cleanText } from './clean-text.js';
import { utf8Prefix } from './utf8-prefix.js';

/** What common file systems take for one name, and what a forwarded attachment may be called. */
const MAX_BYTES = 255;
/** An ending is short; a longer one is not worth keeping. */
const MAX_ENDING_BYTES = 32;

/**
 * A name that is safe as a file name: the last path part, by either separator, without a drive, controls
 * or bidirectional controls, cut to 255 bytes of UTF-8 with its ending kept. Null when nothing is left.
 */
export function safeFilename(name: string): string | null {
  const part = cleanText(cleanText(name).split(/[/\\]/).at(-1) ?? '');
  const bare = part.replace(/^[a-z]:/i, '').trim();
  return /^\.*$/.test(bare) ? null : shorten(bare);
}

function shorten(name: string): string {
  if (name.length * 3 <= MAX_BYTES || Buffer.byteLength(name) <= MAX_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && Buffer.byteLength(name.slice(dot)) <= MAX_ENDING_BYTES ? name.slice(dot) : '';
  const stem = name.slice(0, name.length - ending.length);
  return utf8Prefix(stem, MAX_BYTES - Buffer.byteLength(ending)).trimEnd() + ending;
}
