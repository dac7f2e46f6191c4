import { fail, ok, type Result } from './errors.js';

/** Longest inbox, sender or recipient display name, in UTF-8 bytes after trimming (wire contract, Name). */
export const MAX_NAME_BYTES = 256;

const CONTROL = /\p{Cc}/u;

/**
 * A display name: trimmed; blank, null and absent all mean no name. `field` is named in the error.
 * @returns the name or null, or `invalid_name`
 */
export function normaliseName(field: string, value: string | null | undefined): Result<string | null> {
  if (value === null || value === undefined) return ok(null);
  const name = value.trim();
  if (name === '') return ok(null);
  if (CONTROL.test(name)) return fail('invalid_name', `${field} must not contain control characters.`);
  if (!name.isWellFormed()) return fail('invalid_name', `${field} must be well-formed Unicode.`);
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    return fail('invalid_name', `${field} must be at most ${MAX_NAME_BYTES} bytes of UTF-8 after trimming.`);
  }
  return ok(name);
}
