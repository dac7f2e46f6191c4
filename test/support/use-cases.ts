import type { SendInput } from '../../src/contract/sending.js';
import { Refusal, type Result } from '../../src/domain/errors.js';
import type { Store } from '../../src/store/engine/store.js';
import type { MessageKind } from '../../src/store/mailbox/folders.js';
import type { AccountRecord } from '../../src/store/records/accounts.js';
import { rememberingAuthenticator } from '../../src/usecases/accounts/api-keys.js';
import { deleteInbox as deleteInboxOf } from '../../src/usecases/inboxes/inboxes.js';
import { setPolicy as setPolicyOf } from '../../src/usecases/inboxes/policies.js';
import {
  changeLabels as changeLabelsOf,
  deleteMessage as deleteMessageOf,
  type OfKind,
  trashMessage as trashMessageOf,
} from '../../src/usecases/mailbox/change-messages.js';
import { sendMessage as sendMessageOf } from '../../src/usecases/sending/recipes.js';
import { redeemClaim as redeemClaimOf } from '../../src/usecases/signup/redeem-claim.js';

/** Use cases as tests ask them: for their outcome, a refusal included. */

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

type UseCase<Deps, Input, Value> = (deps: Deps, input: Input) => Value | Promise<Value>;

/** Fields of the API that tests may also write as the rest of the code is written. */
const WIRE_NAMES = {
  addLabels: 'add_labels',
  removeLabels: 'remove_labels',
  idempotencyKey: 'idempotency_key',
  inReplyTo: 'in_reply_to',
  discoverySource: 'discovery_source',
  intendedUse: 'intended_use',
} as const;

type Names = { [Name in keyof typeof WIRE_NAMES as (typeof WIRE_NAMES)[Name]]: Name };
type InWords<Input> = Input extends unknown
  ? { [Key in keyof Input as Key extends keyof Names ? Names[Key] : Key]: Input[Key] }
  : never;

/** What `sendMessage` sends, so written. */
export type SubmissionInput = InWords<SendInput>;

function asWire<Input extends object>(input: Input | InWords<Input>): Input {
  const names: Readonly<Record<string, string>> = WIRE_NAMES;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [names[key] ?? key, value])) as Input;
}

function withOutcome<Deps, Input extends object, Value>(act: UseCase<Deps, Input, Value>) {
  return (deps: Deps, input: Input | InWords<Input>): Promise<Result<Value>> =>
    outcomeOf(() => act(deps, asWire(input)));
}

export const deleteInbox = withOutcome(deleteInboxOf);
export const redeemClaim = withOutcome(redeemClaimOf);
export const sendMessage = withOutcome(sendMessageOf);
export const setPolicy = withOutcome(setPolicyOf);

/** The kind of message that an act is about, said once for several acts. */
interface OfAccess {
  readonly access: { readonly kind: MessageKind };
}

export const receivedMessages = { kind: 'received' } as const;

/** `Omit` for each member of a union. */
type Without<Input, Key extends PropertyKey> = Input extends unknown ? Omit<Input, Key> : never;

function ofKind<Deps, Input extends OfKind, Value>(act: UseCase<Deps, Input, Value>) {
  return (
    deps: Deps & OfAccess,
    input: Without<Input, 'kind'> | InWords<Without<Input, 'kind'>>,
  ): Promise<Result<Value>> =>
    outcomeOf(() => act(deps, { ...asWire<object>(input), kind: deps.access.kind } as unknown as Input));
}

export const changeLabels = ofKind(changeLabelsOf);
export const deleteMessage = ofKind(deleteMessageOf);
export const trashMessage = ofKind(trashMessageOf);

/** The account behind a credential, as a server that remembers nothing yet finds it. */
export function authenticate(deps: { readonly store: Store }, credential: string): AccountRecord | null {
  return rememberingAuthenticator(deps)(credential);
}
