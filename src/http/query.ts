import { fail, ok, type Result } from '../domain/errors.js';
import type { QuerySpec } from './route.js';

const NO_QUERY: ReadonlyMap<string, string> = new Map();

/**
 * The query of a request. A route without a specification ignores it; a list refuses what it does not
 * know and what is given twice.
 * @param text the part behind `?`, or empty
 */
export function readQuery(text: string, spec: QuerySpec | undefined): Result<ReadonlyMap<string, string>> {
  if (spec === undefined || text === '') return ok(NO_QUERY);
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (!spec.names.includes(name)) {
      return fail(
        spec.invalid,
        `Unknown query parameter ${JSON.stringify(name)}; known: ${spec.names.join(', ') || 'none'}.`,
      );
    }
    if (values.has(name)) return fail(spec.invalid, `The query parameter ${name} may be given once.`);
    values.set(name, value);
  }
  return ok(values);
}

const LIMIT = /^[1-9][0-9]{0,2}$/;
const DEFAULT_LIMIT = 20;

/** `limit`: 1 to 100, decimal digits only, default 20 (wire contract 0.3). */
export function readLimit(query: ReadonlyMap<string, string>): Result<number> {
  const text = query.get('limit');
  if (text === undefined) return ok(DEFAULT_LIMIT);
  return LIMIT.test(text) && Number(text) <= 100
    ? ok(Number(text))
    : fail('invalid_limit', 'limit must be a whole number from 1 to 100.');
}
