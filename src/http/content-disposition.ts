/** Characters of RFC 8187 `attr-char` stay; everything else is percent-encoded. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * `Content-Disposition: attachment` with a suggested file name (RFC 6266): an ASCII fallback and, where
 * the name has more, the whole of it as `filename*`.
 */
export function attachmentDisposition(filename: string | null): string {
  if (filename === null) return 'attachment';
  const fallback = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%/]/g, '_');
  const name = `attachment; filename="${fallback}"`;
  return fallback === filename
    ? name
    : `${name}; filename*=UTF-8''${encodeExtended(filename.toWellFormed())}`;
}
