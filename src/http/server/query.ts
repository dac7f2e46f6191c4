import type { ErrorCode } from '../../contract/errors.js';
import { DEFAULT_PAGE, MAX_EVENT_WAIT_S, MAX_PAGE } from '../../contract/limits.js';
import {
  type LABEL_GROUPS,
  type PAGE,
  type QuerySpec,
  RECEIVED_SEARCH_NAMES,
} from '../../contract/operation.js';
import { refuse } from '../../domain/errors.js';
import { type MessageFilter, normaliseFilter } from '../../domain/message-filter.js';
import type { ListOrder } from '../../usecases/mailbox/list-messages.js';
import type { PageInput } from '../../usecases/shared/pages.js';
import type { Query } from './route.js';

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
 * Parses the query of a request. An operation without query parameters ignores it; others refuse unknown parameters,
 * and repeated ones that are no list.
 * @param text the part after `?`, or empty
 */
export function readQuery(text: string, spec: QuerySpec | undefined): Query {
  if (spec === undefined || text === '') return NO_QUERY;
  const query = new ReadQuery();
  const lists = spec.lists ?? [];
  for (const [name, value] of new URLSearchParams(text)) {
    if (!lists.includes(name)) {
      if (!spec.names.includes(name)) {
        const known = [...spec.names, ...lists].join(', ') || 'none';
        throw refuse(spec.invalid, `Unknown query parameter ${JSON.stringify(name)}; known: ${known}.`);
      }
      if (query.get(name) !== undefined) {
        throw refuse(spec.codes?.[name] ?? spec.invalid, `The query parameter ${name} may be given once.`);
      }
    }
    query.add(name, value);
  }
  return query;
}

const LIMIT = /^[1-9][0-9]{0,2}$/;

/**
 * The number of entries asked for in one page, written in decimal digits.
 * @throws `invalid_limit`
 */
export function readLimit(query: Query<'limit'>): number {
  const text = query.get('limit');
  if (text === undefined) return DEFAULT_PAGE;
  if (!LIMIT.test(text) || Number(text) > MAX_PAGE) {
    throw refuse('invalid_limit', `limit must be a whole number from 1 to ${MAX_PAGE}.`);
  }
  return Number(text);
}

const SECONDS = /^(?:0|[1-9][0-9]?)$/;

/**
 * How long the client wants to wait, in milliseconds; null when it does not say.
 * @throws `invalid_search`
 */
export function readWaitMs(query: Query<'wait'>): number | null {
  const text = query.get('wait');
  if (text === undefined) return null;
  if (!SECONDS.test(text) || Number(text) > MAX_EVENT_WAIT_S) {
    throw refuse('invalid_search', `wait must be a whole number of seconds from 0 to ${MAX_EVENT_WAIT_S}.`);
  }
  return Number(text) * 1000;
}

/** Which page of a list is asked for. */
export function readPage(query: Query<(typeof PAGE)[number]>): PageInput {
  return { limit: readLimit(query), cursor: query.get('cursor') ?? null };
}

type SearchName = (typeof RECEIVED_SEARCH_NAMES)[number] | (typeof LABEL_GROUPS)[number];

/** The filter of a list or count. */
export function readFilter(query: Query<SearchName>): MessageFilter {
  const given = RECEIVED_SEARCH_NAMES.flatMap(name => {
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

/** @throws `invalid_search`, for an order by relevance without words, too */
export function readOrder(query: Query<'order' | 'query'>): ListOrder {
  const order = query.get('order') ?? 'newest';
  if (order === 'newest' || order === 'oldest') return order;
  if (order !== 'relevance') throw refuse('invalid_search', 'order must be newest, oldest or relevance.');
  if (query.get('query') !== undefined) return order;
  throw refuse('invalid_search', 'order=relevance needs query, the words to be relevant for.');
}

/**
 * Whether an answer is to have what `include` can ask for here: a preview in the entries of a list, or who has written
 * the message.
 * @param invalid what anything else is refused as
 */
export function readInclude(
  query: Query<'include'>,
  known: 'preview' | 'authentication',
  invalid: ErrorCode = 'invalid_search',
): boolean {
  const include = query.get('include');
  if (include === undefined) return false;
  if (include === known) return true;
  throw refuse(invalid, `include must be ${known}.`);
}
