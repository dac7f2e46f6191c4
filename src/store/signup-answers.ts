import type { AccountId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import type { Reader, Writer } from './reader-writer.js';
import { jsonValue, type Table } from './table.js';

/** What the first claimer of an account said (specification, Signup and claims rule 3). Kept as it was first. */
export interface SignupAnswers {
  readonly accountId: AccountId;
  readonly answeredAt: number;
  readonly discoverySource: string | null;
  readonly intendedUse: string | null;
}

/** Only accounts that a claim has created have an entry, and of these only those that answered. */
export const signupAnswersTable: Table<AccountId, SignupAnswers> = {
  name: 'signup_answers',
  encodeKey: idToBytes,
  ...jsonValue<SignupAnswers>(1),
};

export function getSignupAnswers(reader: Reader, id: AccountId): SignupAnswers | undefined {
  return reader.get(signupAnswersTable, id);
}

export function putSignupAnswers(writer: Writer, answers: SignupAnswers): void {
  writer.put(signupAnswersTable, answers.accountId, answers);
}
