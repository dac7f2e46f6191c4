import type { Result } from '../../src/domain/errors.js';

/** The value of what must not be refused. */
export function expectOk<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`the bench cannot set itself up: ${result.failure.message}`);
  return result.value;
}
