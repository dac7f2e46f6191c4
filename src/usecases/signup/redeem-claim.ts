import type { ClaimInput, ClaimResult } from '../../contract/signup.js';
import { refuse } from '../../domain/errors.js';
import { type KeyId, newId } from '../../domain/ids.js';
import { hashClaimPhrase, hashCredential, newCredential } from '../../domain/secrets.js';
import { readResearchAnswer } from '../../domain/text.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { type AccountRecord, putNewKey } from '../../store/records/accounts.js';
import { findPhrase, putSignupAnswers, removePhrase } from '../../store/records/approvals.js';
import { addAccount } from '../accounts/accounts.js';
import { recordAudit } from '../accounts/audit.js';
import type { Clock, Logger } from '../ports.js';
import { type Eligible, eligible, type SignupPolicy } from './policy.js';

export interface RedeemClaimDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly policy: SignupPolicy;
  readonly log: Logger;
}

/** A claim, and the network address that it comes from. */
export type RedeemClaimInput = ClaimInput & { readonly client: string };

/** Says the same whatever was wrong: a guesser learns nothing from it. */
const INVALID_CLAIM = () =>
  refuse(
    'invalid_claim',
    'This phrase cannot be redeemed. Check the six words; if they are right, ask your human for a new approval.',
  );

/**
 * Redeems a claim phrase for an API key (`createClaim`). Phrase, account and key are one unit of work: a phrase works
 * once, and a claim that fails does not use it up. Makes an account when the address has none; makes no inbox and
 * leaves other keys as they are.
 */
export async function redeemClaim(deps: RedeemClaimDeps, input: RedeemClaimInput): Promise<ClaimResult> {
  const { client } = input;
  const claim = await deps.store.write(writer => redeem(writer, deps, input));
  if (claim === null) {
    deps.log.info({ client }, 'a claim was refused');
    throw INVALID_CLAIM();
  }
  const { account, credential, keyId, isNewAccount } = claim;
  deps.log.info(
    { account_id: account.id, key_id: keyId, client, is_new_account: isNewAccount },
    'a phrase was redeemed for a key',
  );
  return {
    account_id: account.id,
    credential,
    token_type: 'Bearer',
    message:
      'Keep the credential privately: it is shown only now. List the inboxes (GET /v1/inboxes) before you create one.',
  };
}

interface Claim {
  readonly account: AccountRecord;
  readonly credential: string;
  readonly keyId: KeyId;
  readonly isNewAccount: boolean;
}

function redeem(writer: Writer, deps: RedeemClaimDeps, input: RedeemClaimInput): Claim | null {
  const nowMs = deps.clock();
  const hash = hashClaimPhrase(input.phrase);
  const phrase = findPhrase(writer, hash);
  if (phrase === undefined || phrase.expiresAt <= nowMs) return null;
  // The policy may have changed since the approval.
  const found = eligible(writer, deps.policy, phrase.email, phrase.method);
  if (found === null) return null;
  removePhrase(writer, hash, phrase);
  const isNewAccount = found.account === null;
  const account = found.account ?? newAccount(writer, found, input, nowMs);
  const credential = newCredential();
  const keyId = newId<KeyId>(nowMs);
  putNewKey(
    writer,
    { id: keyId, accountId: account.id, name: null, createdAt: nowMs, revokedAt: null },
    hashCredential(credential),
  );
  recordAudit(writer, nowMs, {
    kind: 'claimed',
    email: account.email,
    accountId: account.id,
    keyId,
    approvalId: phrase.id,
    client: input.client,
    detail: isNewAccount ? 'made the account' : null,
  });
  return { account, credential, keyId, isNewAccount };
}

/** The account, with what its first claimer says of it. */
function newAccount(
  writer: Writer,
  { email }: Eligible,
  input: RedeemClaimInput,
  nowMs: number,
): AccountRecord {
  const account = addAccount(writer, { email, nowMs, isOperator: false });
  const discoverySource = readResearchAnswer(input.discovery_source);
  const intendedUse = readResearchAnswer(input.intended_use);
  if (discoverySource !== null || intendedUse !== null) {
    putSignupAnswers(writer, { accountId: account.id, answeredAt: nowMs, discoverySource, intendedUse });
  }
  return account;
}
