import type { RawValue } from './value-type.js';

/** A value as TOML writes it. JSON's strings are TOML's basic strings, DEL apart. */
export function renderToml(value: RawValue): string {
  if (typeof value === 'object') return `[${value.map(renderToml).join(', ')}]`;
  return typeof value === 'string' ? JSON.stringify(value).replaceAll('\x7f', '\\u007f') : String(value);
}
