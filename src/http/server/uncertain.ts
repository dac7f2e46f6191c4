import type { ErrorCode } from '../../contract/errors.js';
import { Refusal, refuse } from '../../domain/errors.js';

/**
 * A refusal as an operation tells it. Sends and drafts say in their own words that there is no room.
 * @param uncertain the code of the operation for an unexpected failure
 */
export function refusedAs(refusal: Refusal, uncertain: ErrorCode): Refusal {
  const { failure } = refusal;
  const isTheirs = failure.code === 'insufficient_room' && uncertain !== 'internal_error';
  return isTheirs ? new Refusal({ ...failure, code: uncertain }) : refusal;
}

/** What is told of an unexpected failure; the log has the rest. */
export function uncertainRefusal(code: ErrorCode): Refusal {
  return refuse(
    code,
    'The operation failed and may have been carried out in part. Check before you repeat it.',
  );
}
