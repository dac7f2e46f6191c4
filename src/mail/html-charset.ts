import { isUtf8 } from 'node:buffer';

/** Where the declaration has to stand (HTML, "Specifying the document's character encoding"). */
const DECLARATION_BYTES = 1024;

/**
 * The charset that an HTML body declares for itself, for use where its MIME header names none. Text that is
 * valid UTF-8 is UTF-8 whatever it declares.
 */
export function declaredHtmlCharset(bytes: Buffer): string | null {
  if (isUtf8(bytes)) return null;
  const beginning = bytes.toString('latin1', 0, DECLARATION_BYTES);
  return /<meta\s[^>]*?charset\s*=\s*["']?([^\s"'/>;]+)/i.exec(beginning)?.[1] ?? null;
}
