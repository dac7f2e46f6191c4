const MAX_SHOWN = 80;

/** Words for a value that was refused: quoted, cut to a bearable length, without a URL's credentials. */
export function quoteValue(raw: unknown): string {
  if (raw === undefined) return 'nothing';
  if (Array.isArray(raw)) return 'a list';
  if (raw instanceof Date) return 'a date';
  if (typeof raw === 'object' && raw !== null) return 'a table';
  const text = typeof raw === 'string' ? withoutCredentials(raw) : String(raw);
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return typeof raw === 'string' ? JSON.stringify(cut) : cut;
}

/** RFC 3986 section 3.2.1: what stands before the last `@` of an authority may hold a password. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/.*@/s, '//…@');
}
