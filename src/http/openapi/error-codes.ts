import { ERRORS, type ErrorCode } from '../../contract/errors.js';
import type { Route } from '../server/route.js';

const ALL = Object.keys(ERRORS) as ErrorCode[];

/**
 * Every code that an operation can answer with, by rising status: its own, what authentication brings (401), and
 * what reading a body brings (400, 413, 415).
 */
export function errorCodesOf(route: Pick<Route, 'auth' | 'body' | 'errors'>): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors);
  if (route.auth === 'bearer') codes.add('unauthorized');
  if (route.body !== undefined) {
    codes.add('invalid_json').add('body_too_large').add('unsupported_media_type');
  }
  return ALL.filter(code => codes.has(code));
}
