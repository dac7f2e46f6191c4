import type { Operation } from '../contract/operation.js';
import { refuse } from '../domain/errors.js';
import { SMALL_BYTES } from '../usecases/shared/in-hand.js';
import type { McpDeps, ToolCaller } from './deps.js';
import { requestOf } from './read-arguments.js';
import { Bounded, type Bounds, readBounded } from './read-bounded.js';
import type { JsonObject } from './values.js';

/** Of lists and short answers. */
export const LISTED: Bounds = { perText: 4_096, texts: 2 ** 19, files: 0 };

/**
 * Carries out an operation and reads its answer, up to what the bounds allow.
 * @throws `body_too_large` when it may wait: others would wait for the memory of the message as long
 */
export function perform(
  deps: McpDeps,
  caller: ToolCaller,
  operation: Operation,
  args: JsonObject,
  bounds: Bounds,
): Promise<Bounded> {
  const { hand } = caller;
  if (operation.isWaiting === true && hand?.isLarge === true) {
    const message = `A message with a call that can wait must have less than ${SMALL_BYTES} bytes. Nothing was done.`;
    throw refuse('body_too_large', message);
  }
  return deps
    .operate(operation.operationId, { ...requestOf(operation, args), ...caller })
    .then(answer =>
      answer.kind === 'object'
        ? new Bounded(answer.value as JsonObject)
        : readBounded(answer.stream, bounds, hand),
    );
}
