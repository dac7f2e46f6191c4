/** Printable ASCII as a quoted string (RFC 5322 section 3.2.4). */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
