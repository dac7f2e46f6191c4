import { fail, ok, type Result } from '../domain/errors.js';
import type { Query, QuerySpec } from './route.js';

class ReadQuery implements Query {
  readonly #values = new Map<string, string[]>();

  get(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  list(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  add(name: string, value: string): void {
    const values = this.#values.get(name);
    if (values === undefined) this.#values.set(name, [value]);
    else values.push(value);
  }
}

const NO_QUERY: Query = new ReadQuery();

/**
 * The query of a request. A route without a specification ignores it; a list refuses what it does not
 * know and what is given twice.
 * @param text the part behind `?`, or empty
 */
export function readQuery(text: string, spec: QuerySpec | undefined): Result<Query> {
  if (spec === undefined || text === '') return ok(NO_QUERY);
  const query = new ReadQuery();
  const lists = spec.lists ?? [];
  for (const [name, value] of new URLSearchParams(text)) {
    if (!lists.includes(name)) {
      if (!spec.names.includes(name)) {
        const known = [...spec.names, ...lists].join(', ') || 'none';
        return fail(spec.invalid, `Unknown query parameter ${JSON.stringify(name)}; known: ${known}.`);
      }
      if (query.get(name) !== undefined) {
        return fail(spec.nameCodes?.[name] ?? spec.invalid, `The query parameter ${name} may be given once.`);
      }
    }
    query.add(name, value);
  }
  return ok(query);
}

const LIMIT = /^[1-9][0-9]{0,2}$/;
const DEFAULT_LIMIT = 20;

/** `limit`: 1 to 100, decimal digits only, default 20 (wire contract 0.3). */
export function readLimit(query: Query): Result<number> {
  const text = query.get('limit');
  if (text === undefined) return ok(DEFAULT_LIMIT);
  return LIMIT.test(text) && Number(text) <= 100
    ? ok(Number(text))
    : fail('invalid_limit', 'limit must be a whole number from 1 to 100.');
}
