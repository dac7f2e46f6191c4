/** The longest beginning of `text` that has at most `maxBytes` bytes of UTF-8 and ends between two characters. */
export function utf8Prefix(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  // Each unit of UTF-16 is at least one byte, so what lies beyond cannot fit.
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // Continuation bytes are 10xxxxxx (RFC 3629 section 3).
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
