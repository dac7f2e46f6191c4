import type { DkimForm } from '../../domain/dkim-signatures.js';
import type { HeaderLine } from './header-lines.js';

/**
 * A field in the form that is hashed, without the end of its line (RFC 6376 sections 3.4.1 and 3.4.2). Only spaces and
 * tabs are white space: the bytes of UTF-8 text have 0xA0 among them, which JavaScript takes for a space.
 */
export function canonicalField({ key, text }: HeaderLine, form: DkimForm): string {
  if (form === 'simple') return text;
  const value = text.slice(text.indexOf(':') + 1).replace(/\r?\n/g, '');
  return `${key}:${value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}`;
}

/** The field of a signature with nothing in its tag `b` (RFC 6376 section 3.7). */
export function withoutSignature({ key, text }: HeaderLine): HeaderLine {
  const tags = text.split(';');
  const place = tags.findIndex((tag, index) =>
    /^[ \t\r\n]*b[ \t\r\n]*=/.test(index === 0 ? tag.slice(tag.indexOf(':') + 1) : tag),
  );
  const tag = tags[place] ?? '';
  tags[place] = tag.slice(0, tag.indexOf('=') + 1);
  return { key, text: tags.join(';') };
}

/** Fields by name, to take one after the other from the last (RFC 6376 section 5.4.2). */
export type FieldsByName = ReadonlyMap<string, readonly HeaderLine[]>;

export function fieldsByName(fields: readonly HeaderLine[]): FieldsByName {
  const byName = new Map<string, HeaderLine[]>();
  for (const field of fields) {
    const known = byName.get(field.key);
    if (known === undefined) byName.set(field.key, [field]);
    else known.push(field);
  }
  return byName;
}

/** What a signature signs of the header: the fields that it names, and itself. */
export function signedHeader(
  fields: FieldsByName,
  names: readonly string[],
  form: DkimForm,
  signature: HeaderLine,
): string {
  const taken = new Map<string, number>();
  let signed = '';
  for (const name of names) {
    const ofName = fields.get(name);
    if (ofName === undefined) continue;
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    // A name without a field that is left proves that there is none.
    const field = ofName[ofName.length - count];
    if (field !== undefined) signed += `${canonicalField(field, form)}\r\n`;
  }
  return signed + canonicalField(withoutSignature(signature), form);
}
