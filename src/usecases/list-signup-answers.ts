import { toInstant } from '../domain/instants.js';
import { getAccount } from '../store/accounts.js';
import { signupAnswersTable } from '../store/signup-answers.js';
import type { Store } from '../store/store.js';
import { walkTable } from '../store/walk-table.js';

/** What the first claimer of an account said, as the command line shows it. */
export interface SignupAnswersView {
  readonly account_id: string;
  readonly email: string | null;
  readonly answered_at: string;
  readonly discovery_source: string | null;
  readonly intended_use: string | null;
}

/** Every answer, by the age of its account; an appliance has few. */
export function listSignupAnswers({ store }: { readonly store: Store }): SignupAnswersView[] {
  return store.read(reader =>
    [...walkTable(reader, signupAnswersTable)].map(({ value }) => ({
      account_id: value.accountId,
      email: getAccount(reader, value.accountId)?.email ?? null,
      answered_at: toInstant(value.answeredAt),
      discovery_source: value.discoverySource,
      intended_use: value.intendedUse,
    })),
  );
}
