import { fail, ok, type Result } from '../domain/errors.js';
import { type MessageFilter, normaliseFilter } from '../domain/message-filter.js';
import type { ListOrder } from '../usecases/list-messages.js';
import type { Query } from './route.js';

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
