import type { StsPolicy } from '../../domain/mta-sts.js';
import { range, text, WHOLE_TABLE } from '../engine/keys.js';
import type { Store } from '../engine/store.js';
import { jsonValue, type Reader, type Table, type Writer, walkTable } from '../engine/tables.js';

/**
 * Domain in lower case, A-labels -> its MTA-STS policy (RFC 8461). It is kept until it expires: with a policy that was
 * forgotten, whoever answers for the network could have mail to the domain once more in plain text.
 */
export const stsPoliciesTable: Table<string, StsPolicy> = {
  name: 'sts_policies',
  encodeKey: text,
  ...jsonValue<StsPolicy>(1),
};

/** Few domains have one; a policy has some hundred bytes. */
const MAX_POLICIES = 4_000;

export function getStsPolicy(reader: Reader, domain: string): StsPolicy | undefined {
  return reader.get(stsPoliciesTable, domain);
}

/**
 * Keeps a policy in place of the one before. When there are too many, the one that was fetched longest ago goes: a
 * domain that gets mail has its policy fetched again every day.
 */
export function putStsPolicy(
  writer: Writer,
  domain: string,
  policy: StsPolicy,
  maxPolicies = MAX_POLICIES,
): void {
  const isNew = !writer.has(stsPoliciesTable, domain);
  if (isNew && countOf(writer, maxPolicies) >= maxPolicies) removeOldest(writer);
  writer.put(stsPoliciesTable, domain, policy);
}

function countOf(reader: Reader, limit: number): number {
  return reader.scanKeys(stsPoliciesTable, { ...range(WHOLE_TABLE), limit }).length;
}

function removeOldest(writer: Writer): void {
  let oldest: { readonly domain: string; readonly fetchedAt: number } | null = null;
  for (const { key, value } of walkTable(writer, stsPoliciesTable)) {
    if (oldest !== null && oldest.fetchedAt <= value.fetchedAt) continue;
    oldest = { domain: key.toString('utf8'), fetchedAt: value.fetchedAt };
  }
  if (oldest !== null) writer.remove(stsPoliciesTable, oldest.domain);
}

/** The policies in a store, to be read and kept one at a time. */
export function stsShelf(store: Store) {
  return {
    get: (domain: string): StsPolicy | undefined => store.read(reader => getStsPolicy(reader, domain)),
    put: async (domain: string, policy: StsPolicy): Promise<void> => {
      await store.write(writer => putStsPolicy(writer, domain, policy));
    },
  };
}
