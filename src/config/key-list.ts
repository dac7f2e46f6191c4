import type { ConfigValue, Key, Members, RawValue } from './key.js';
import { KEYS } from './keys.js';

/** A key with its names. */
export interface NamedKey extends Key<ConfigValue> {
  /** Dotted, as messages name it: `smtp.max_message_bytes`. */
  readonly id: string;
  /** `smtp`, or `relay.smarthost` for a table within a table. */
  readonly section: string;
  /** `max_message_bytes`. */
  readonly name: string;
  /** `POSTERN_SMTP_MAX_MESSAGE_BYTES`. */
  readonly variable: string;
}

/** A section and its own keys; inner sections are listed by themselves. */
export interface NamedSection {
  readonly id: string;
  readonly doc: string;
  readonly keys: readonly NamedKey[];
}

/** All sections in the order of declaration, an inner one after its outer one. */
export const SECTIONS: readonly NamedSection[] = sectionsOf(KEYS, '');

/** All keys in the order of declaration. */
export const KEY_LIST: readonly NamedKey[] = SECTIONS.flatMap(section => section.keys);

function sectionsOf(members: Members, outer: string): NamedSection[] {
  return Object.entries(members).flatMap(([name, member]) => {
    if (member.kind === 'key') return [];
    const id = outer === '' ? name : `${outer}.${name}`;
    return [{ id, doc: member.doc, keys: keysOf(member.members, id) }, ...sectionsOf(member.members, id)];
  });
}

function keysOf(members: Members, section: string): NamedKey[] {
  return Object.entries(members).flatMap(([name, member]) => {
    if (member.kind === 'section') return [];
    const id = `${section}.${name}`;
    return [{ ...member, id, section, name, variable: variableOf(id) }];
  });
}

/** `smtp.max_message_bytes` becomes `POSTERN_SMTP_MAX_MESSAGE_BYTES`. */
function variableOf(id: string): string {
  return `POSTERN_${id.toUpperCase().replaceAll('.', '_')}`;
}

/** A value to show as an example: the default, or an example of its own when that is empty or there is none. */
export function exampleOf(key: NamedKey): RawValue {
  const { fallback } = key;
  return fallback.kind === 'value' ? (fallback.example ?? fallback.raw) : fallback.example;
}
