import { fail, ok, type Result } from '../../domain/errors.js';
import { type MessageFilter, normaliseFilter } from '../../domain/message-filter.js';
import type { ListOrder } from '../../usecases/mailbox/list-messages.js';
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

/** Search parameters that are given at most once (wire contract 0.3, SEARCH). */
export const SEARCH_NAMES = ['query', 'from', 'recipient', 'subject', 'after', 'before'] as const;
export const LABEL_GROUPS = ['labels_all', 'labels_any', 'labels_none'] as const;

/** The filter that a list or count asks for. */
export function readFilter(query: Query): Result<MessageFilter> {
  if (query.get('query') !== undefined) {
    return fail(
      'invalid_search',
      'Search in texts (query) is not served yet; use subject, from or recipient.',
    );
  }
  const given = SEARCH_NAMES.flatMap(name => {
    const value = query.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const groups = {
    all: query.list('labels_all'),
    any: query.list('labels_any'),
    none: query.list('labels_none'),
  };
  return normaliseFilter(groups, Object.fromEntries(given));
}

export function readOrder(query: Query): Result<ListOrder> {
  const order = query.get('order') ?? 'newest';
  if (order === 'newest' || order === 'oldest') return ok(order);
  return order === 'relevance'
    ? fail('invalid_search', 'order relevance needs query, which is not served yet; use newest or oldest.')
    : fail('invalid_search', 'order must be newest or oldest.');
}
