import type { NamedKey } from './key-list.js';
import { renderToml } from './texts.js';

/** The type of a key and its bounds: `integer, 65536 to 268435456`. */
export function describeType(key: NamedKey): string {
  const { name, allowed, isSecret } = key.type;
  return `${name}${allowed === '' ? '' : `, ${allowed}`}${isSecret ? '; secret' : ''}`;
}

/** What applies when the key is not set: `Default: 25`. */
export function describeDefault(key: NamedKey): string {
  switch (key.fallback.kind) {
    case 'value':
      return `Default: ${renderToml(key.fallback.raw)}`;
    case 'required':
      return 'Required';
    case 'unset':
      return 'Default: unset';
    case 'derived':
      return `Default: ${key.fallback.from}`;
  }
}
