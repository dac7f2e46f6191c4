/** Names of tags are told apart by letter case (RFC 6376 section 3.2). */
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/**
 * The tags of a list (RFC 6376 section 3.2), which DKIM, ARC and DMARC share, their values without white space.
 * @returns null when a tag is there twice or has no name: which one is meant is then anybody's guess
 */
export function readTags(list: string): ReadonlyMap<string, string> | null {
  const tags = new Map<string, string>();
  for (const part of list.replace(/[ \t\r\n]+/g, '').split(';')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(at, 0));
    if (!NAME.test(name) || tags.has(name)) return null;
    tags.set(name, part.slice(at + 1));
  }
  return tags;
}
