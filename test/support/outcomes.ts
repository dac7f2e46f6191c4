import { Refusal, type Result } from '../../src/domain/errors.js';
import { setPolicy as setPolicyOf } from '../../src/usecases/inboxes/policies.js';
import { sendMessage as sendMessageOf } from '../../src/usecases/sending/reply-and-forward.js';
import { redeemClaim as redeemClaimOf } from '../../src/usecases/signup/redeem-claim.js';

/** Waits for `act`, whose refusal is an outcome like any other; whatever else it throws is thrown on. */
export async function outcomeOf<Value>(act: () => Value | Promise<Value>): Promise<Result<Value>> {
  try {
    return { ok: true, value: await act() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, failure: error.failure };
    throw error;
  }
}

/** The value of an outcome that has to be none of the refusals. */
export function must<Value>(outcome: Result<Value>): Value {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome.failure)}`);
  return outcome.value;
}

/** The use case as tests like to ask it: for its outcome. */
function withOutcome<Input extends readonly unknown[], Value>(
  act: (...input: Input) => Value | Promise<Value>,
): (...input: Input) => Promise<Result<Value>> {
  return (...input) => outcomeOf(() => act(...input));
}

export const redeemClaim = withOutcome(redeemClaimOf);
export const sendMessage = withOutcome(sendMessageOf);
export const setPolicy = withOutcome(setPolicyOf);
