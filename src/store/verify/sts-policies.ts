import { isSoundStsPolicy } from '../../domain/mta-sts.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { stsPoliciesTable } from '../records/sts-policies.js';
import type { Ledger } from './ledger.js';

/** MTA-STS policies, each with hosts that mail may go to and with an end: by one without, none or all of them would do. */
export function verifyStsPolicies(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, stsPoliciesTable)) {
    if (!isSoundStsPolicy(value)) ledger.expect(`a whole MTA-STS policy of ${key.toString('utf8')}`);
  }
}
